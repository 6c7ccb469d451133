"""The server's part of gpu_check.py: starts `arrcoc serve` on the loopback address, asks it, sends it
what it must refuse and times clients at once. python3's own library only."""

import base64
import concurrent.futures
import http.client
import itertools
import json
import os
import signal
import statistics
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

PATIENCE = 120  # seconds for one reply, and for the server to start or stop
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever the environment names


def body_of(jpeg, question):
    url = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode()
    content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": question}]
    return json.dumps({"messages": [{"role": "user", "content": content}]}).encode()


def own_copy(jpeg, number):
    """The same pixels as a picture that the server has never seen: it goes by the file's bytes."""
    words = number.to_bytes(16, "big")
    return jpeg[:2] + b"\xff\xfe" + (len(words) + 2).to_bytes(2, "big") + words + jpeg[2:]


def answer_in(reply):
    return json.loads(reply)["choices"][0]["message"]["content"]


def drive(url, work, pages, clients, seconds, first, step):
    """One process with some of the clients; each asks again until the time is over. A list of (begin,
    end, good, the answer is another one), and the processor time of this process."""
    where = urllib.parse.urlsplit(url).netloc
    numbers = itertools.count(first, step)
    rows, lock = [], threading.Lock()
    until = time.monotonic() + seconds

    def client():
        connection = http.client.HTTPConnection(where, timeout=PATIENCE)
        while time.monotonic() < until:
            with lock:
                number = next(numbers)
            jpeg, question, wanted = work[number % len(work)]
            if pages == "new":
                jpeg = own_copy(jpeg, number)
            else:
                question, wanted = f"What is the price of number {number & 0xffffffff}?", None
            body = body_of(jpeg, question)
            begin, good, other = time.monotonic(), False, False
            try:
                connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
                reply = connection.getresponse()
                text = reply.read()
                good = reply.status == 200
                other = good and wanted is not None and answer_in(text) != wanted
            except (OSError, http.client.HTTPException, ValueError, LookupError):
                connection.close()
            with lock:
                rows.append((begin, time.monotonic(), good, other))
        connection.close()

    spent = time.process_time()
    threads = [threading.Thread(target=client) for _ in range(clients)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return rows, time.process_time() - spent


def line(row):
    return (f"{row['per_second']:.1f} questions/s, median {row['median_ms']:.0f} ms, p95 {row['p95_ms']:.0f} ms "
            f"({row['asked']} asked, {row['failed']} failed, {row['other']} other answers; clients used "
            f"{row['client_cores']:.2f} cores)")


class Server:
    """url: None where it did not start; said: its own line about that."""

    def __init__(self, command, folder, log):
        self.next = 0
        self.url = None
        with open(log, "w", encoding="utf-8") as errors:
            self.child = subprocess.Popen([*command, "--port", "0", "--host", "127.0.0.1"], cwd=folder,
                                          stdout=subprocess.PIPE, stderr=errors, text=True)
        watch = threading.Timer(PATIENCE, self.child.kill)
        watch.start()
        self.said = self.child.stdout.readline().strip()
        watch.cancel()
        if "http://" in self.said:
            self.url = "http://" + self.said.split("http://")[1]
            return
        self.child.wait(PATIENCE)
        with open(log, encoding="utf-8") as errors:
            self.said = (errors.read().strip().splitlines() or ["no words"])[-1][:300]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        self.child.stdout.close()

    def send(self, path, data=None, headers=None):
        """(status, body), also of replies that refuse; (0, the problem) without a reply."""
        request = urllib.request.Request(self.url + path, data, headers or {"Content-Type": "application/json"})
        try:
            with DIRECT.open(request, timeout=PATIENCE) as reply:
                return reply.status, reply.read().decode(errors="replace")
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode(errors="replace")
        except OSError as problem:
            return 0, str(problem)

    def ask(self, path, question):
        with open(path, "rb") as file:
            status, text = self.send("/v1/chat/completions", body_of(file.read(), question))
        return answer_in(text) if status == 200 else f"status {status}: {text[:200]}"

    def refusals(self):
        """(name, good, text) of what must get a 4xx with one line, and leave the server alive."""
        chat = "/v1/chat/completions"
        cases = [("bad_json", chat, b'{"messages": [', 400),
                 ("unknown_path", "/v1/nothing", b"{}", 404),
                 ("bad_picture", chat, body_of(b"\xff\xd8\xff\xe0 no picture", "What?"), 400),
                 ("huge_body", chat, b" " * (33 << 20), 413),
                 ("no_picture", chat, b'{"messages": [{"role": "user", "content": "What?"}]}', 400)]
        for name, path, data, wanted in cases:
            status, text = self.send(path, data)
            # A body that is refused before it is read may meet a closed connection.
            good = status == wanted or (name == "huge_body" and status == 0)
            try:
                text = json.loads(text)["error"]["message"]
            except (ValueError, LookupError, TypeError):
                pass
            yield name, good, f"{status}: {text[:160]}"

    def health(self):
        try:
            return json.loads(self.send("/health")[1])["status"]
        except (ValueError, LookupError):
            return "none"

    def load(self, answers, pages, clients, seconds):
        """answers: {(path, question): answer}. pages: every question about a picture that was never seen
        ("new"), or another question each time about one of a few ("known")."""
        work = []
        for (path, question), answer in answers.items():
            with open(path, "rb") as file:
                work.append((file.read(), question, answer))
        processes = max(1, min(clients, (os.cpu_count() or 2) // 2))
        share = [clients // processes + (i < clients % processes) for i in range(processes)]
        first, self.next = self.next, self.next + (1 << 32)
        begin = time.monotonic()
        with concurrent.futures.ProcessPoolExecutor(processes) as pool:
            jobs = [pool.submit(drive, self.url, work, pages, share[i], seconds, first + i, processes)
                    for i in range(processes)]
            parts = [job.result(seconds + 2 * PATIENCE) for job in jobs]
        rows = [row for part, _ in parts for row in part]
        taken = sorted(1e3 * (end - start) for start, end, good, _ in rows if good) or [0.0]
        spent = max(end for _, end, _, _ in rows) - min(start for start, _, _, _ in rows) if rows else 0
        good = sum(good for _, _, good, _ in rows)
        return {"pages": pages, "clients": clients, "asked": len(rows), "failed": len(rows) - good,
                "other": sum(other for _, _, _, other in rows), "per_second": good / spent if spent else 0.0,
                "median_ms": statistics.median(taken), "p95_ms": taken[min(len(taken) - 1, int(0.95 * len(taken)))],
                "client_cores": sum(cpu for _, cpu in parts) / max(1e-3, time.monotonic() - begin)}

    def stop(self):
        """The exit code after SIGTERM; None when it does not end."""
        self.child.send_signal(signal.SIGTERM)
        try:
            return self.child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return None
