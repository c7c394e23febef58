// What is true of the stages of a whole problem, and how far off a recipe may be.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/cases/case.hpp"
#include "harness/checks/truth.hpp"
#include "harness/recipes/bounds.hpp"
#include "harness/recipes/recipe.hpp"
#include "harness/subjects/subject.hpp"
#include "reference/enclosures.hpp"
#include "reference/table.hpp"

namespace ropewalk {

// The exact values of one stage, of observed earlier stages (local) or of the inputs alone (total).
struct StageTruth {
  Shape shape;
  reference::Enclosures values;
  std::vector<double> nearest;  // correctly rounded to the case's dtype; of total only
};

// The reference of one case; what several subjects ask for is computed once.
class WholeTruth {
 public:
  virtual ~WholeTruth() = default;
  virtual const StageTruth& total(const std::string& stage) = 0;
  virtual StageTruth local(const std::string& stage, const Stages& observed) = 0;
  // Where the stage only moves what an observed stage holds, and computes nothing.
  virtual bool only_moves(const std::string& stage, const Stages& observed) const = 0;
  const reference::Proof& proof() const { return proof_; }

 protected:
  reference::Proof proof_;
};
std::unique_ptr<WholeTruth> make_lora_truth(const Case& problem, const Stages& inputs);
std::unique_ptr<WholeTruth> make_attention_truth(const Case& problem,
                                                 const Stages& inputs);  // of stages after the table

// Largest errors that the claimed recipe allows at each element of a stage.
struct WholeLimits {
  std::vector<double> local, total;
  std::vector<double> probable;  // local, and not the worst case but what is hardly ever exceeded; of attention
  DType dtype = DType::float32;  // that the steps give the stage
  std::string formula, source;
};
class LimitsOfRecipe {
 public:
  LimitsOfRecipe(Recipe claims, DocumentedBounds device, const Case& problem, const Stages& inputs);
  // Of a subject whose earlier stages are these. Throws Refused where a step has no bound.
  WholeLimits of(const std::string& stage, const Stages& observed, bool only_moves);

 private:
  struct Stage {
    std::vector<double> limits;
    std::string refused;
    DType dtype = DType::float32;
  };
  using ByStage = std::map<std::string, Stage>;
  Stage bounded(const StageSteps& steps, BoundedValues& known, double lambda) const;
  ByStage walk(const Stages* observed, double lambda = 0);
  BoundedValues table() const;
  static const Stage& limits_in(const ByStage& stages, const std::string& stage, const Recipe& claims);

  Recipe claims_;
  DocumentedBounds device_;
  const Case& problem_;
  const Stages& inputs_;
  std::optional<BoundedValues> table_;               // of attention
  std::optional<ByStage> total_, local_, probable_;  // of the observed stages of the first call, the last two
};

// Of the probabilistic bounds: each sum of n terms exceeds its own with a probability of at most 2 n exp(-lambda^2 /
// 2).
constexpr double kLambda = 8;

}  // namespace ropewalk
