"""systemd's units, as far as they can be judged without running them, and what the documents say of the metrics."""

import re
import subprocess

import httpx
from proxies import DEPLOY, replaced


def units(site, folder):
    """Copies whose program and settings are where they are said to be."""
    settings = folder / "enfilade.env"
    settings.write_text((DEPLOY / "systemd/enfilade.env").read_text())
    service = (DEPLOY / "systemd/enfilade.service").read_text()
    service = replaced(
        service, ("/usr/local/bin/enfilade", site.program), ("/etc/enfilade/enfilade.env", str(settings))
    )
    (folder / "enfilade.service").write_text(service)
    (folder / "enfilade.socket").write_text((DEPLOY / "systemd/enfilade.socket").read_text())
    return [str(folder / "enfilade.service"), str(folder / "enfilade.socket")]


def systemd_analyze(*arguments):
    return subprocess.run(["systemd-analyze", *arguments], capture_output=True, text=True, check=False)


def test_systemd_finds_nothing_wrong_with_the_units(site, tmp_path):
    outcome = systemd_analyze("verify", "--man=no", *units(site, tmp_path))
    assert (outcome.returncode, outcome.stdout + outcome.stderr) == (0, "")


def test_the_service_is_exposed_to_next_to_nothing(site, tmp_path):
    # Of ten; what is left is that a server speaks to the network, and that the root folder is the machine's.
    outcome = systemd_analyze("security", "--offline=true", "--threshold=15", units(site, tmp_path)[0])
    assert outcome.returncode == 0, outcome.stdout


def test_the_example_of_settings_is_one_that_the_program_takes(site, tmp_path):
    units(site, tmp_path)
    lines = (tmp_path / "enfilade.env").read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    subprocess.run([site.program, "settings"], env=settings, check=True, stdout=subprocess.DEVNULL)


def test_every_metric_that_an_alert_names_is_there(site, nodes):
    named = set(re.findall(r"enfilade_[a-z_]+(?=[\[{`])", (DEPLOY / "README.md").read_text()))
    token = (site.folder / "metrics-token").read_text().strip()
    url = f"http://127.0.0.1:{nodes[0].port}/metrics"
    page = httpx.get(url, headers={"Authorization": f"Bearer {token}"}, trust_env=False).text
    there = set(re.findall(r"^# TYPE (\S+) ", page, re.MULTILINE))
    assert len(named) >= 4
    assert named <= there, named - there
