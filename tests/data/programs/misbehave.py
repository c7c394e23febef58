#!/usr/bin/env python3
"""A program that breaks the protocol in the way its first argument names. What is right in it is plain_python's."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "harness" / "adapters"))
import plain_python

mode = sys.argv[1]


def say(answer):
    print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)


def describe():
    answer = {"status": "ok", "protocol": 1, "name": "misbehave", "version": "1", "ops": ["rope_table"],
              "dtypes": ["float32", "float64"]}
    if mode == "describe-protocol":
        answer["protocol"] = 2
    elif mode == "describe-without-ops":
        del answer["ops"]
    elif mode == "describe-odd-dtypes":
        answer["dtypes"] = [32]
    elif mode == "describe-error":
        answer = {"status": "error", "message": "no licence"}
    elif mode == "no-rope-table":
        answer["ops"] = ["attention"]
    elif mode == "describe-exit":
        print("cannot import torch", file=sys.stderr)
        sys.exit(4)
    return answer


def once(path):
    """True the first time: the program that is started again finds the file."""
    if os.path.exists(path):
        return False
    open(path, "w").close()
    return True


def table(request, **changed):
    """The right table, but for what is changed: its shape or dtype."""
    shape = changed.get("shape", [len(plain_python.read_tensor(request["inputs"], "positions")), 2])
    count = 1
    for size in shape:
        count *= size
    plain_python.write_tensors(request["outputs"], {"cos": (changed.get("dtype", request["dtype"]), shape, [1.0] * count)})


def answer_table(request):
    ok = {"status": "ok", "id": request["id"]}
    if mode == "garbage":
        return "Loading model...\x07"
    if mode == "invalid-utf8":
        sys.stdout.buffer.write(b"\xff\xfe\n")
        sys.stdout.flush()
        return None
    if mode == "array":
        return [1]
    if mode == "no-status":
        return {"id": request["id"]}
    if mode == "odd-status":
        return {"status": "fine", "id": request["id"]}
    if mode == "odd-message":
        return {"status": "error", "id": request["id"], "message": 3}
    if mode == "wrong-id":
        return {"status": "ok", "id": request["id"] + 1}
    if mode == "text-id":
        return {"status": "ok", "id": str(request["id"])}
    if mode == "unsupported":
        return {"status": "unsupported", "id": request["id"], "message": "not this base"}
    if mode == "error":
        return {"status": "error", "id": request["id"], "message": f"out of memory in process {os.getpid()}"}
    if mode == "sleep":
        print("still compiling", file=sys.stderr, flush=True)
        time.sleep(30)
    if mode == "huge-line":
        return "x" * 3_000_000
    if mode == "endless-line":
        while True:
            sys.stdout.write("x" * 65536)
    if mode == "close-stdout":
        os.close(1)
        time.sleep(30)
    if mode == "exit":
        print("first line\nValueError: bad weights\n", file=sys.stderr)
        sys.exit(3)
    if mode == "exit-without-newline":
        sys.stdout.write(json.dumps(ok))
        sys.exit(0)
    if mode == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if mode == "abort-once" and once(sys.argv[2]):
        os.abort()
    if mode == "exit-with-child":  # the child keeps stdout and stderr open
        subprocess.Popen(["sleep", "30"], stdin=subprocess.DEVNULL)
        os._exit(5)
    if mode == "much-stderr":
        for i in range(20000):
            print(f"warning {i} " + "-" * 80, file=sys.stderr)
        sys.exit(1)
    if mode == "no-outputs":
        return ok
    if mode == "folder-outputs":
        os.mkdir(request["outputs"])
        return ok
    if mode == "damaged-outputs":
        open(request["outputs"], "wb").write(b"\x10\0\0\0\0\0\0\0{}")
        return ok
    if mode == "no-stage":
        plain_python.write_tensors(request["outputs"], {"cosine": ("float32", [1], [1.0])})
        return ok
    if mode == "wrong-shape":
        table(request, shape=[2, 3])
    elif mode == "transposed":
        table(request, shape=[2, 3, 1])
    elif mode == "wrong-dtype":
        table(request, dtype="float64")
    else:
        table(request)
    if mode == "write-after":  # the file shrinks after the answer, if it is still there
        say(ok)
        with contextlib.suppress(FileNotFoundError):
            os.truncate(request["outputs"], 0)
        return None
    if mode == "ask-twice":
        say(ok)
    return ok


for line in sys.stdin:
    request = json.loads(line)
    answer = describe() if request["op"] == "describe" else answer_table(request)
    if answer is not None:
        say(answer)
if mode == "stay":
    time.sleep(30)
