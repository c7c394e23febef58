"""An adapter at work: asks it over the line protocol (docs/protocol.md)."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "harness" / "adapters"))
from torch_tensors import read, write


class Adapter:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.folder = tempfile.TemporaryDirectory()
        self.says = self.ask({"op": "describe", "protocol": 1})

    def ask(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline() or '{"status": "error", "message": "it ended"}')

    def outputs(self, question, tensors):
        """The tensors of the answer; a text that says why there are none."""
        folder = pathlib.Path(self.folder.name)
        write(folder / "in", tensors)
        answer = self.ask({**question, "id": 1, "inputs": str(folder / "in"), "outputs": str(folder / "out")})
        if answer["status"] != "ok":
            return f"{answer['status']}: {answer['message']}"
        return read(folder / "out")
