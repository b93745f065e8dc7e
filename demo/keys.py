"""A device's keys and what it does with them: prove possession, seal for another device, open what is for it.

An envelope is a libsodium sealed box for the receiving device's X25519 key. Inside: an Ed25519 signature by the sending
device over the message's id, both devices and the text, then the text. So only the receiver can read it, and the
receiver knows who wrote it, for whom and as which message.
"""

import base64

from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, PublicKey, SealedBox
from nacl.signing import SigningKey, VerifyKey

from say import Wrong
from secrets_used import Secrets

SIGNATURE_BYTES = 64


class Keys:
    """Made here; the private halves never leave this process."""

    def __init__(self, kept: Secrets) -> None:
        self._identity = SigningKey.generate()
        self._agreement = PrivateKey.generate()
        kept.add("private key", bytes(self._identity))
        kept.add("private key", bytes(self._agreement))
        self.identity_key = _base64(bytes(self._identity.verify_key))
        self.agreement_key = _base64(bytes(self._agreement.public_key))
        kept.add("public key", self.identity_key)
        kept.add("public key", self.agreement_key)

    def prove(self, issuer: str, account_id: str, sid: str) -> str:
        """The signature that enrolment asks for."""
        lines = (
            "enfilade-enrol-v1", issuer, account_id, sid,
            f"ed25519:{self.identity_key}", f"x25519:{self.agreement_key}",
        )
        return _base64(self._identity.sign("".join(f"{line}\n" for line in lines).encode()).signature)

    def seal(self, text: str, message_id: str, sender: str, receiver: dict) -> str:
        """For one listed device."""
        signature = self._identity.sign(_context(message_id, sender, receiver["id"]) + text.encode()).signature
        box = SealedBox(PublicKey(base64.b64decode(receiver["agreementKey"])))
        return _base64(box.encrypt(signature + text.encode()))

    def open(self, ciphertext: str, message_id: str, sender: dict, receiver: str) -> str:
        """From one listed device."""
        try:
            content = SealedBox(self._agreement).decrypt(base64.b64decode(ciphertext, validate=True))
            signature, text = content[:SIGNATURE_BYTES], content[SIGNATURE_BYTES:]
            VerifyKey(base64.b64decode(sender["identityKey"])).verify(
                _context(message_id, sender["id"], receiver) + text, signature
            )
        except (CryptoError, ValueError) as error:
            raise Wrong(f"message {message_id} cannot be opened: {error}") from error
        return text.decode()


def _context(message_id: str, sender: str, receiver: str) -> bytes:
    return f"enfilade-demo-message-v1\n{message_id}\n{sender}\n{receiver}\n".encode()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
