"""Streams that live past every time-out of the proxies."""

import json
import os
import threading
import time

import proxies
import pytest
from conftest import client
from processes import free_port
from test_story import following

SECONDS = 100  # The longest time-out in deploy/ is 75 s.


class Listener(threading.Thread):
    def __init__(self, person, url):
        super().__init__(daemon=True)
        self.http = client(url)
        self.http.headers.update(person.authorization)
        self.names, self.last, self.fault = [], None, None
        self.start()

    def run(self):
        try:
            with following(self, read=60) as (_, events):
                for event in events:
                    self.names.append(event.event)
                    if event.event == "message":
                        self.last = json.loads(event.data)["id"]
                        return
        except Exception as error:
            self.fault = error


@pytest.mark.skipif(not os.environ.get("ENFILADE_TEST_FULL"), reason="only at length")
@pytest.mark.parametrize("proxy", [proxies.Nginx], indirect=True, ids=["all"])
def test_a_quiet_stream_lives_past_every_time_out(proxy, site, nodes, member):
    sender, receiver = member(), member()
    others = [kind(site.folder, free_port(), nodes) for kind in proxies.ALL]
    listeners = [Listener(receiver, f"https://127.0.0.1:{each.port}") for each in others]
    time.sleep(SECONDS)  # Not to wait for anything: that nothing ends it is what is tested.
    sent = sender.send(receiver.account, "still there")
    for listener in listeners:
        listener.join(30)
    for each in others:
        each.stop()
    assert [listener.fault for listener in listeners] == [None] * len(others)
    assert [listener.last for listener in listeners] == [sent] * len(others)
    assert all(listener.names.count("heartbeat") >= 4 for listener in listeners)
