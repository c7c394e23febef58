#!/usr/bin/env bash
# Makes the dumps of this folder again, with the packages that script/real-packages installs.
set -euo pipefail
cd "$(dirname "$0")"
root=../../..
for name in transformers-4.37.2 transformers-5.24.0 rotary-embedding-torch-0.9.1; do
  "$root/script/real-packages" "$name"
  "$root/script/real-python" "$name" make.py "$name"
done
sha256sum -- *.safetensors
