"""Makes logs with many replacements and times them; see benches/replacements."""
import os, statistics, subprocess, tempfile, time

BINARY = "target/release/dsh-log"


def make(path, count):
    with open(path, "w") as out:
        out.write('{"type":"session","version":0,"id":"r","createdAt":1,"delegationDepth":0}\n')
        out.write('{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}\n')
        message = '{"id":"m%d","role":"user","source":{"kind":"user"},"content":[]}'
        for seq in range(1, count + 1):
            data = message % seq
            out.write(f'{{"type":"user/message","seq":{seq},"time":{seq},"data":{data},"surfaceOp":"append"}}\n')
        for old in range(1, count + 1):
            seq, data = count + old, message % (count + old)
            op = f'{{"op":"replace","start":{old},"end":{old}}}'
            rest = f'"sourceEventSeqs":[{old}],"surfaceOp":{op}'
            out.write(f'{{"type":"user/message","seq":{seq},"time":{seq},"data":{data},{rest}}}\n')
        out.write(f'{{"type":"turn/end","seq":{2 * count + 1},"time":1,"data":{{"turn":1,"reason":{{"kind":"completed"}}}}}}\n')


def seconds(command, path):
    start = time.perf_counter()
    subprocess.run([BINARY, *command, path], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


with tempfile.TemporaryDirectory() as folder:
    paths = {}
    for count in (20_000, 40_000, 80_000):
        paths[count] = os.path.join(folder, f"{count}.jsonl")
        make(paths[count], count)
    print("| replacements | inspect s | to half | surface --history s | to half |\n|---:|---:|---:|---:|---:|")
    before = None
    for count, path in paths.items():
        row = [
            statistics.median(seconds(command, path) for _ in range(5))
            for command in (["inspect"], ["surface", "--history"])
        ]
        ratios = [f"{now / then:.2f}" for now, then in zip(row, before)] if before else ["", ""]
        print(f"| {count:,} | {row[0]:.3f} | {ratios[0]} | {row[1]:.3f} | {ratios[1]} |")
        before = row
