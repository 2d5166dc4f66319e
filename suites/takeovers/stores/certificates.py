"""Certificates of the proxies before the store: one authority after the other, of which servers trust the one in a file."""
import datetime
import ipaddress
import pathlib
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

# A server whose clock is an hour behind takes them, too.
BEFORE, AFTER = datetime.timedelta(days=2), datetime.timedelta(days=2)


def certificate(name: str, key: ec.EllipticCurvePrivateKey, signer: ec.EllipticCurvePrivateKey, by: str, is_authority: bool) -> bytes:
    """In PEM."""
    def named(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder(named(by), named(name), key.public_key(), x509.random_serial_number(), now - BEFORE, now + AFTER)
    builder = builder.add_extension(x509.BasicConstraints(is_authority, None), True)
    if not is_authority:
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        builder = builder.add_extension(x509.SubjectAlternativeName([address]), False)
    return builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


class Certificates:
    """`file` has the authority that servers trust; `context` is that of the proxies."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.file, self.count = folder, folder / "authority.pem", 0
        self.renew()
        self.trust()

    def renew(self) -> None:
        """The proxies get a certificate of another authority, which no server trusts yet."""
        self.count += 1
        authority, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        by = f"authority {self.count}"
        self.authority = certificate(by, authority, authority, by, True)
        chain = self.folder / f"proxy-{self.count}.pem"
        encoded = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        chain.write_bytes(encoded + certificate("proxy", key, authority, by, False))
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(chain)

    def trust(self) -> None:
        """Servers trust the present authority, and no other one."""
        new = self.file.with_suffix(".new")
        new.write_bytes(self.authority)
        new.replace(self.file)
