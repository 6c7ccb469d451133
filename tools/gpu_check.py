#!/usr/bin/env python3
"""Checks and times the product on a GPU (after tools/gpu_product.sh build): python3's own library only.

    python3 tools/gpu_check.py [--device cuda] [--build build/cuda] [--out out/gpu] [--only STEP,...]
                               [--goldens tests/data/goldens] [--quick]

Steps: same (answers and maps against --kernels reference on the CPU), commands (each command once),
serve (the server on the loopback address against `ask`, what it refuses, and 1, 8 and 64 clients at
once; tools/gpu_serve.py), goldens (float32 against the reference implementation, other types for finite numbers), speed
(arrcoc_vlm_gpu with the bundled network: looking, first tokens, many at once), eager (the same
without CUDA graphs). One line a check, report.json and the logs under --out; a failed check makes
the exit code 1, no check ends another.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import time

import gpu_serve

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PICTURES = os.path.join(ROOT, "examples", "pictures")
DEMO = [("receipt", "What is the total?"), ("receipt", "What is the date?"),
        ("chart", "What is the value of South Africa?"), ("street", "Which platform is this?")]
# Largest difference of a map; bfloat16 has 8 bits of each number.
ALLOWED = {"float32": 0.01, "bfloat16": 0.1}


class Checks:
    def __init__(self, args):
        self.args = args
        self.results = []
        self.tool = os.path.join(args.build, "arrcoc")
        os.makedirs(args.out, exist_ok=True)

    def run(self, name, command, limit=120, graphs="first", **environment):
        """The program's output; None where it failed. Its log lies under the name."""
        own = dict(os.environ, ARRCOC_GRAPHS=graphs, **environment)
        begin = time.time()
        path = os.path.join(self.args.out, name + ".txt")
        try:
            done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True,
                                  timeout=limit, check=False)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            code, out = "no end", (late.stdout or b"").decode(errors="replace")
            err = (late.stderr or b"").decode(errors="replace")
        except OSError as problem:
            code, out, err = "no start", "", str(problem)
        with open(path, "w", encoding="utf-8") as log:
            log.write(" ".join(command) + f"\n# {code}, {time.time() - begin:.1f} s\n{out}\n# stderr\n{err}")
        unrecorded = sorted({line for line in err.splitlines() if "not recorded" in line})
        for line in unrecorded:
            self.tell(name + ".graphs", False, line)
        if code != 0:
            last = [line for line in (err + "\n" + out).splitlines() if line.strip()]
            self.tell(name, False, f"{code}: {last[-1][:300] if last else ''}")
            return None
        return out

    def tell(self, name, good, text, **more):
        self.results.append({"check": name, "good": good, "text": text, **more})
        print(f"{'ok  ' if good else 'FAIL'} {name:28} {text}", flush=True)

    def each(self, work, *lists):
        """Several programs at once: starting costs them seconds, the GPU hardly anything."""
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            return list(pool.map(work, *lists))

    def there(self, dtype):
        return ["--device", self.args.device, "--dtype", dtype]

    # ---- Steps

    def same(self):
        reference = ["--device", "cpu", "--dtype", "float32", "--kernels", "reference"]
        kinds = {"reference": reference, "float32": self.there("float32"),
                 "bfloat16": self.there("bfloat16")}

        def demo(number):
            picture, question = DEMO[number]
            asked = [os.path.join(PICTURES, picture + ".jpg"), question, "--json"]
            return {kind: self.look_and_ask(f"demo{number}.{kind}", asked, flags)
                    for kind, flags in kinds.items()}

        for number, made in enumerate(self.each(demo, range(len(DEMO)))):
            for dtype in ("float32", "bfloat16"):
                self.compare(f"demo{number}.{dtype}", dtype, [made["reference"]], [made[dtype]])
        rows = dict(zip(kinds, self.each(lambda kind: self.suites(kind, kinds[kind]), kinds)))
        for dtype in ("float32", "bfloat16"):
            self.compare(f"suites.{dtype}", dtype, rows["reference"], rows[dtype])

    def look_and_ask(self, name, asked, flags):
        answer = self.run(name + ".ask", [self.tool, "ask", *asked, *flags])
        look = self.run(name + ".look", [self.tool, "look", *asked, *flags])
        if answer is None or look is None:
            return None
        return json.loads(answer)["answer"], json.loads(look)["map"]["values"]

    def suites(self, name, flags):
        """Answers and maps to generated pages, the same for everybody."""
        per_suite = 2 if self.args.quick else 10
        rows = []
        for suite in ("documents", "charts"):
            path = os.path.join(os.path.abspath(self.args.out), f"{suite}.{name}.jsonl")
            self.run(f"suites.{suite}.{name}",
                     [self.tool, "eval", "--suite", suite, "--limit", str(per_suite),
                      "--native-limit", "1", "--predictions", path, "--details", *flags], 300)
            if not os.path.exists(path):
                return [None]
            for line in open(path, encoding="utf-8"):
                row = json.loads(line)
                if row.get("row") == "realized":
                    answer = row["answer"]
                    rows.append((answer["answer"], (answer.get("map") or {}).get("values") or []))
            os.remove(path)
        return rows

    def compare(self, name, dtype, wanted, got):
        if None in wanted or None in got or len(wanted) != len(got) or not got:
            self.tell(name, False, "no answers to compare")
            return
        other = [(w[0], g[0]) for w, g in zip(wanted, got) if w[0] != g[0]]
        pairs = [(a, b) for w, g in zip(wanted, got) for a, b in zip(w[1], g[1])]
        sizes = all(len(w[1]) == len(g[1]) for w, g in zip(wanted, got))
        largest = max((abs(a - b) for a, b in pairs), default=0.0)
        finite = all(b == b for _, b in pairs)
        good = sizes and finite and largest <= ALLOWED[dtype] and (not other or len(got) > 4 * len(other))
        text = f"{len(got) - len(other)} of {len(got)} answers the same, map off by {largest:.2g}"
        self.tell(name, good, text + (f" {other[:3]}" if other else ""), difference=largest,
                  other=other, answers=len(got))

    def commands(self):
        frames = os.path.join(self.args.out, "frames")
        os.makedirs(frames, exist_ok=True)
        for i in range(6):
            source = "street" if i < 3 else "receipt"
            shutil.copy(os.path.join(PICTURES, source + ".jpg"),
                        os.path.join(frames, f"{i:04d}.jpg"))
        street, there = os.path.join(PICTURES, "street.jpg"), ["--device", self.args.device]
        wanted = {
            "info": [self.tool, "info"],
            "doctor": [self.tool, "doctor"],
            "look": [self.tool, "look", street, "Which platform is this?", *there],
            "ask": [self.tool, "ask", street, "Which platform is this?", *there],
            "watch": [self.tool, "watch", frames, "What is the total?", "--fps", "2", *there],
            "eval": [self.tool, "eval", "--suite", "records", "--limit", "2", "--native-limit", "1", *there],
            "bench": [self.tool, "bench", "--quick", "--suite", "documents", "--limit", "2", "--policies",
                      "realized", "--out", os.path.join(self.args.out, "bench"), *there],
        }
        for name, command in wanted.items():
            begin = time.time()
            out = self.run("command." + name, command, 240)
            if out is not None:
                lines = [line for line in out.splitlines() if line.strip()]
                self.tell("command." + name, True, f"{time.time() - begin:.1f} s: {lines[0][:90] if lines else ''}")

    def serve(self):
        log = os.path.join(self.args.out, "serve.txt")
        with gpu_serve.Server([self.tool, "serve", "--device", self.args.device], ROOT, log) as server:
            self.tell("serve.start", server.url is not None, server.said)
            if server.url is None:
                return
            wanted = {}
            for picture, question in DEMO:
                path = os.path.join(PICTURES, picture + ".jpg")
                out = self.run(f"serve.ask{len(wanted)}", [self.tool, "ask", path, question, "--json",
                                                           "--device", self.args.device])
                wanted[path, question] = json.loads(out)["answer"] if out else None
            got = {one: server.ask(*one) for one in wanted}
            other = [(question, wanted[path, question], said) for (path, question), said in got.items()
                     if said != wanted[path, question]]
            self.tell("serve.answers", not other, f"{len(got) - len(other)} of {len(got)} as ask gives them "
                      f"{other[:2] if other else ''}".strip(), other=other)
            for name, good, text in server.refusals():
                self.tell("serve." + name, good, text)
            seconds = self.args.seconds or (2 if self.args.quick else 10)
            crowds = self.args.clients or ([1, 4] if self.args.quick else [1, 8, 64])
            # What threads and lengths cost when they are first met is told apart.
            self.tell("serve.warming", True, gpu_serve.line(server.load(got, "new", max(crowds), seconds)))
            for pages in ("new", "known"):
                for clients in crowds:
                    row = server.load(got, pages, clients, seconds)
                    good = row["failed"] == 0 and row["asked"] > 0 and row["other"] * 20 <= row["asked"]
                    self.tell(f"serve.{pages}.{clients}", good, gpu_serve.line(row), **row)
            self.tell("serve.alive", server.health() == "ok", f"health {server.health()}")
            code = server.stop()
            self.tell("serve.stop", code == 0, f"SIGTERM: exit code {code}")

    def golden(self, family, finite):
        folder = os.path.join(self.args.goldens, family)
        golden = os.path.join(folder, "golden.safetensors")
        if not os.path.exists(golden):
            return
        name = f"golden.{family}." + ("finite" if finite else "float32")
        more = [] if finite else ["--golden", golden]
        out = self.run(name, [self.tool, "models", "check", folder, "--device", self.args.device, *more])
        if out is not None:
            lines = out.splitlines()
            self.tell(name, True, f"{len(lines)} tensors, {worst(lines)}")
            return
        with open(os.path.join(self.args.out, name + ".txt"), encoding="utf-8") as log:
            for line in log:
                if line.startswith("FAIL"):
                    print("       " + line.strip()[:200])

    def goldens(self):
        if not os.path.isdir(self.args.goldens):
            self.tell("goldens", False, f"{self.args.goldens} is not there")
            return
        families = sorted(os.listdir(self.args.goldens))
        self.each(self.golden, [f for f in families for _ in (0, 1)], [0, 1] * len(families))
        out = self.run("golden.bundle", [self.tool, "models", "check", "models/tiny"],
                       ARRCOC_DEVICE=self.args.device)
        if out is not None:
            self.tell("golden.bundle", True, f"{len(out.splitlines())} checks")

    def timing(self, name, graphs, clients):
        path = os.path.join(os.path.abspath(self.args.out), name + ".json")
        config = "configs/qwen3_vl_small.json" if self.args.quick else "configs/qwen3_vl_2b.json"
        sizes = "256" if self.args.quick else "1024,2048"
        command = [os.path.join(self.args.build, "arrcoc_vlm_gpu"), "--config", config, "--sizes", sizes,
                   "--device", self.args.device, "--bundle", "models/tiny", "--json", path,
                   "--repeats", "2" if self.args.quick else "9", "--seconds", "1" if self.args.quick else "4"]
        if clients:
            command += ["--clients", "1,4" if self.args.quick else "1,8,64"]
        if shutil.which("nvidia-smi"):  # who else uses it: figures beside a training run are no figures
            beside = self.run(name + ".gpu", ["nvidia-smi", "--query-gpu=name,utilization.gpu,memory.used",
                                              "--format=csv,noheader"])
            self.tell(name + ".gpu", beside is not None, (beside or "").strip())
        out = self.run(name, command, 240, graphs=graphs)
        if out is None or not os.path.exists(path):
            return
        print(out)
        report = json.load(open(path, encoding="utf-8"))
        self.results.append({"check": name, "report": report})
        for row in report["rows"]:
            if row["mode"] == "look" and row["size"] == 1024:
                self.tell(name + ".looking", row["new_page_ms"] <= 3,
                          f"a new 1024x1024 page {row['new_page_ms']:.2f} ms (at most 3), known {row['known_page_ms']:.2f}")
        for size, least in ((1024, 1.0), (2048, 8.0)):
            rows = [r for r in report["rows"] if r["size"] == size and "speedup_in_all" in r]
            if rows:
                best = max(rows, key=lambda r: r["speedup_in_all"])
                self.tell(f"{name}.first_token.{size}", best["speedup_in_all"] >= least,
                          f"{best['in_all_ms']:.1f} ms in all ({best['mode']}), {best['speedup_in_all']:.2f} "
                          f"times native (at least {least})")

    def speed(self):
        self.timing("speed", "tell", True)

    def eager(self):
        self.timing("eager", "0", False)


def worst(lines):
    """The check that is nearest to what it is allowed, of lines "ok name 1e-5 (allowed 2e-4)"."""
    shares = []
    for line in lines:
        words = line.replace("(allowed", "").replace(")", "").split()
        try:
            shares.append((float(words[-2]) / max(float(words[-1]), 1e-30), words[1], words[-2]))
        except (ValueError, IndexError):
            continue
    return "largest share of its tolerance {:.2f} ({} {})".format(*max(shares)) if shares else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "cuda"))
    parser.add_argument("--out", default=os.path.join(ROOT, "out", "gpu"))
    parser.add_argument("--goldens", default="tests/data/goldens")
    parser.add_argument("--only", default="goldens,same,commands,serve,speed,eager")
    parser.add_argument("--jobs", type=int, default=8, help="programs at once where nothing is timed")
    parser.add_argument("--clients", type=int, nargs="+", help="of serve: at once, default 1 8 64")
    parser.add_argument("--seconds", type=float, default=0, help="of serve: for each of them, default 10")
    parser.add_argument("--quick", action="store_true", help="small, to try the script itself")
    args = parser.parse_args()
    args.build, args.out = os.path.abspath(args.build), os.path.abspath(args.out)
    os.chdir(ROOT)
    checks = Checks(args)
    for step in args.only.split(","):
        begin = time.time()
        try:
            getattr(checks, step)()
        except Exception as problem:  # one fault must not hide the others
            checks.tell(step, False, f"{type(problem).__name__}: {problem}")
        print(f"     {step}: {time.time() - begin:.0f} s", flush=True)
        with open(os.path.join(args.out, "report.json"), "w", encoding="utf-8") as file:
            json.dump(checks.results, file, indent=1)
    bad = [one["check"] for one in checks.results if one.get("good") is False]
    print(f"{len(checks.results) - len(bad)} good, {len(bad)} not: {' '.join(bad)}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
