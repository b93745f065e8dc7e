"""What Linux tells of processes and of itself."""

import os
import pathlib
import platform
import subprocess

TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pids):
    """User and system time of these processes together."""
    total = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICK


def memory(pids):
    """Resident and proportional bytes: proportional counts memory that several processes share once."""
    rss = pss = 0
    for pid in pids:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in ("Rss", "Pss"):
                amount = int(rest.split()[0]) * 1024
                rss, pss = (rss + amount, pss) if name == "Rss" else (rss, pss + amount)
    return rss, pss


def children(pid):
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def socket_memory():
    """Bytes that the kernel holds for TCP, of the whole machine."""
    for line in pathlib.Path("/proc/net/sockstat").read_text().splitlines():
        if line.startswith("TCP:"):
            words = line.split()
            return int(words[words.index("mem") + 1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def said(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except OSError:
        return ""
    return (done.stdout or done.stderr).strip()


def package(name):
    """The version of a Debian package that is installed, else an empty text."""
    words = said("dpkg-query", "--show", "--showformat", "${db:Status-Status} ${Version}", name).split()
    return words[1] if len(words) == 2 and words[0] == "installed" else ""


def machine():
    cpu = memory_kib = ""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.partition(":")[2].strip()
            break
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal"):
            memory_kib = int(line.split()[1])
    release = pathlib.Path("/etc/os-release").read_text()
    system = next((line.partition("=")[2].strip('"') for line in release.splitlines() if line.startswith("PRETTY_NAME=")), "")
    return {
        "CPU": f"{cpu}, {os.cpu_count()} cores",
        "memory": f"{memory_kib / 1024 / 1024:.1f} GiB",
        "kernel": platform.release(),
        "system": system,
        "load before": " ".join(f"{value:.2f}" for value in os.getloadavg()),
    }
