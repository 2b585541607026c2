"""A small client of AOS for Python 3.8 and later: one file, the standard library alone (docs/clients.md).

Updates, licenses (online and by a `.lic` file), heartbeats and error reports. Methods never raise when the network or the
server fails: their result says so. `is_transient`: nothing definite was answered, ask again later.
"""

import atexit
import base64
import binascii
import hashlib
import http.client
import io
import json
import math
import os
import platform
import re
import secrets
import socket
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

__all__ = ["Client", "Beat", "License", "LicenseFile", "Reported", "Seat", "Update", "verify_license_file"]

Json = Dict[str, Any]
Pems = Union[str, Sequence[str]]
_T = TypeVar("_T")

STATUSES = frozenset(
    (
        "active grace expired inactive revoked pending invalid product_mismatch no_seat_free machine_limit"
        " machine_pending machine_blocked"
    ).split()
)
LONGEST_ANSWER = 64 * 1024 * 1024
LONGEST_FILE = 256 * 1024
LONGEST_PEM = 16_384


@dataclass(frozen=True)
class Update:
    update_available: bool
    latest_version: Optional[str]
    #: As the server sent it; its `package_url` is relative to the server's address.
    release: Optional[Json]
    #: A matter of the credentials and not of the network.
    unauthorized: bool
    is_transient: bool
    error: Optional[str] = None


@dataclass(frozen=True)
class License:
    #: The license's status, the error code of a definite refusal, or None where nothing is known.
    status: Optional[str]
    valid: bool
    #: The server's signature was verified with `license_public_key`.
    verified: bool
    is_transient: bool
    #: What the server remarks, such as `machine_id_unstable: ...`, signed with the rest.
    warnings: Tuple[str, ...] = ()
    #: The machine's seat of a floating license: `id` and `expires_at`. None without a seat.
    lease: Optional[Json] = None
    #: `used` and `max` of a floating license.
    seats: Optional[Json] = None
    #: Features in force, each with `name` and `until`.
    entitlements: Tuple[Json, ...] = ()
    #: An expired license is valid until then, with the status `grace`.
    grace_until: Optional[str] = None


@dataclass(frozen=True)
class LicenseFile:
    valid: bool
    #: Of a file with a right signature, whatever else is wrong with it.
    payload: Optional[Json] = None
    reason: Optional[str] = None


@dataclass(frozen=True)
class Beat:
    sent: bool
    #: The monitor's state.
    state: Optional[str]
    unauthorized: bool
    is_transient: bool
    error: Optional[str] = None


@dataclass(frozen=True)
class Reported:
    sent: bool
    client_ref: str
    #: The item, such as `shop-1`.
    ref: Optional[str]
    created: Optional[bool]
    unauthorized: bool
    is_transient: bool
    error: Optional[str] = None


class Client:
    """The client of one project, which is the product of releases and licenses as well."""

    def __init__(
        self,
        server: str,
        project: str,
        token: Optional[str] = None,
        license_public_key: Pems = (),
        machine_id: Optional[str] = None,
        timeout: float = 10.0,
        cache_dir: Optional[str] = None,
    ) -> None:
        """`license_public_key`: PEM, or several; with it no answer about a license is believed that it, or a key that followed it,
        did not sign. `timeout`: seconds, of the connection and then of the whole answer. `cache_dir`: the folder of `aos-keys.json`, where the keys that followed are kept; default: the user's cache folder."""
        if not re.match(r"https?://[^/?#@]+(/[^?#]*)?\Z", server):
            raise ValueError("server must be an address such as https://aos.example.com")
        if not re.match(r"[a-z0-9][a-z0-9._-]{0,63}\Z", project):
            raise ValueError("project must be a slug such as shop")
        self._server = server.rstrip("/")
        self._project = project
        self._token = token
        self._keys = _keys(license_public_key)
        self._timeout = timeout
        self._user: Optional[Json] = None
        self._chain = _KeptChain(cache_dir or _cache_dir(project))
        self.machine_id, self._is_stable = (machine_id, True) if machine_id else _machine_id(project, cache_dir or _cache_dir(project))

    def check_for_update(self, current_version: str, channel: str = "stable", platform: Optional[str] = None) -> Update:
        """Whether there is a newer release. `platform`: `win-x64`, `linux-x64`, `linux-arm64`, `any`; default: this machine's."""
        query = {"product": self._project, "version": current_version, "channel": channel}
        query["platform"] = platform or machine_platform()
        query["instance_id"] = self.machine_id
        answer = self._ask("GET", "/api/updateservice/v1/check?" + urllib.parse.urlencode(query))
        if answer.body is None:
            return Update(False, None, None, answer.unauthorized, answer.is_transient, answer.error)
        found = answer.body.get("update_available") is True
        release = answer.body.get("release") if found else None
        return Update(found, answer.body.get("latest_version"), release, False, False)

    def validate_license(self, key: str, machine_id: Optional[str] = None) -> License:
        """Whether a license key is good for this project, on this machine. Keep the last answer for the time without the server."""
        machine, is_stable = (machine_id, True) if machine_id else (self.machine_id, self._is_stable)
        nonce = secrets.token_hex(16) if self._keys else None
        asked: Json = {"license_key": key, "product": self._project, "platform": machine_platform()}
        asked.update({name: value for name, value in (("machine_id", machine), ("nonce", nonce)) if value is not None})
        if not is_stable:
            asked["machine_unstable"] = True
        answer = self._ask("POST", "/api/license/v1/validate", asked, token=False, license=True)
        if answer.body is None:
            return License(answer.code, False, False, answer.is_transient)
        if self._keys:
            expected = {"key_sha256": _sha256(_canonical_key(key)), "product": self._project}
            expected.update({"machine_id": machine, "nonce": nonce})
            fault = self._by_known_keys(lambda keys: _answer_fault(keys, answer.body or {}), lambda it: it)
            if fault is not None or any(answer.body.get(n) != v for n, v in expected.items()):
                return License(None, False, False, True)
        status = answer.body["status"]
        warnings = answer.body.get("warnings")
        entitlements = answer.body.get("entitlements")
        return License(
            status,
            status in ("active", "grace"),
            bool(self._keys),
            False,
            tuple(warnings) if isinstance(warnings, list) else (),
            answer.body.get("lease"),
            answer.body.get("seats"),
            tuple(entitlements) if isinstance(entitlements, list) else (),
            answer.body.get("grace_until"),
        )

    def release_license(self, lease_id: str) -> bool:
        """Gives a floating seat back. `lease_id`: the `id` of `License.lease`."""
        return self._ask("POST", "/api/license/v1/validate/release", {"lease_id": lease_id}, token=False).body is not None

    def hold_seat(self, key: str, machine_id: Optional[str] = None) -> "Seat":
        """Takes a seat of a floating license and holds it: `with client.hold_seat(key) as seat: ...`"""
        return Seat(self, key, machine_id)

    def load_license_file(self, text: str, now: Optional[datetime] = None) -> LicenseFile:
        """Verifies the text of a `.lic` for this project and machine. The server is asked only for a key that followed the pinned one."""
        return self._by_known_keys(
            lambda keys: _verified_file(text, keys, self._project, self.machine_id, now), lambda it: it.reason
        )

    def heartbeat(self, source: str, status: str = "ok", **fields: Any) -> Beat:
        """One heartbeat: `interval` (seconds), `message`, `checks`, `metrics`, `app_version`."""
        # A container whose id changes with each start is not a machine.
        beat = dict({"instance_id": self.machine_id} if self._is_stable else {}, **fields)
        answer = self._ask("POST", "/api/watchdog/v1/ping", dict(beat, source=source, status=status))
        state = None if answer.body is None else answer.body.get("state")
        return Beat(answer.body is not None, state, answer.unauthorized, answer.is_transient, answer.error)

    def set_user(self, user_id: Optional[Union[str, int]]) -> None:
        """Who uses the application from now on: every report names them. The server keeps only a keyed hash of it. None: nobody."""
        self._user = None if user_id is None else {"id": user_id}

    def report_error(self, error_message: str, **fields: Any) -> Reported:
        """Reports an error: `error_level`, `exception_class`, `stack_trace`, `app_version`, `environment`, `tags`, … The same `client_ref` counts once."""
        report = dict({"error_level": "error"}, **fields)
        if self._user is not None:
            report.setdefault("user", self._user)
        report.update({"error_message": _text(error_message)[:8_192], "project": self._project})
        reference = report.setdefault("client_ref", secrets.token_hex(16))
        answer = self._ask("POST", "/api/errors/v1/report", report)
        body = answer.body or {}
        return Reported(
            answer.body is not None,
            reference,
            body.get("ref"),
            body.get("created"),
            answer.unauthorized,
            answer.is_transient,
            answer.error,
        )

    def capture_exception(self, error: BaseException, **fields: Any) -> Reported:
        """Reports what was raised, with its stack trace."""
        trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        found = {"exception_class": type(error).__qualname__, "stack_trace": trace[-65_536:]}
        frame = _top_frame(error)
        if frame is not None:
            found.update({"file": frame.filename, "line": frame.lineno})
        return self.report_error(_message(error), **dict(found, **fields))

    def _by_known_keys(self, verify: Callable[[List["_Key"]], _T], fault: Callable[[_T], Optional[str]]) -> _T:
        """Verifies by the pinned keys, then by the chain that is kept, then by the server's."""
        first = verify(self._keys)
        if fault(first) != "unknown_key" or not self._keys:
            return first
        for read in (self._chain.read, self._published_chain):
            chain = read()
            followed = _followed(self._keys, chain)
            result = verify(self._keys + followed) if followed else first
            if fault(result) != "unknown_key":
                self._chain.keep(chain)
                return result
        return first

    def _published_chain(self) -> Optional[Json]:
        status, body, _ = self._exchange("GET", "/api/license/v1/pubkey", None, False)
        return _chain_of(body) if status == 200 else None

    def _ask(
        self, method: str, path: str, body: Optional[Json] = None, token: bool = True, license: bool = False
    ) -> "_Answer":
        status, answer, fault = self._exchange(method, path, body, token)
        return _Answer(error=fault) if status is None else _judge(status, answer, license)

    def _exchange(
        self, method: str, path: str, body: Optional[Json], token: bool
    ) -> Tuple[Optional[int], Optional[Json], Optional[str]]:
        """Status and JSON of an answer, or why there is none."""
        headers = {"Accept": "application/json"}
        if token and self._token is not None and method == "POST":
            headers["Authorization"] = "Bearer " + self._token
        data = None
        if body is not None:
            data = json.dumps(_plain(body)).encode("utf-8")
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(self._server + path, data=data, headers=headers, method=method)
        try:
            with _OPENER.open(request, timeout=self._timeout) as response:
                return response.status, _parsed(response.read(LONGEST_ANSWER)), None
        except urllib.error.HTTPError as error:
            with error:
                try:
                    return error.code, _parsed(error.read(LONGEST_ANSWER)), None
                except (OSError, http.client.HTTPException) as fault:
                    return None, None, str(fault) or type(fault).__name__
        except (OSError, ValueError, http.client.HTTPException) as error:
            return None, None, str(error) or type(error).__name__


class Seat:
    """A seat of a floating license. A thread renews its lease. `release`, the end of `with` and the interpreter's exit
    give it back; a process that a signal kills keeps it until the lease ends."""

    def __init__(self, client: Client, key: str, machine_id: Optional[str] = None) -> None:
        self._client, self._key, self._machine_id = client, key, machine_id
        self._ended = threading.Event()
        self._lock = threading.Lock()
        #: The latest result. Without a free seat the thread tries again every minute.
        self.license = client.validate_license(key, machine_id)
        self._lease = self.license.lease
        atexit.register(self.release)
        threading.Thread(target=self._renew_until_release, daemon=True).start()

    def __enter__(self) -> "Seat":
        return self

    def __exit__(self, *_: Any) -> None:
        self.release()

    def release(self) -> None:
        """Stops renewing and gives the seat back."""
        self._ended.set()
        atexit.unregister(self.release)
        # A renewal that is on its way may take the seat again.
        with self._lock:
            lease, self._lease = self._lease, None
            if lease is not None:
                self._client.release_license(lease["id"])

    def _renew_until_release(self) -> None:
        while not self._ended.wait(_renewal_delay(self.license)):
            with self._lock:
                if self._ended.is_set():
                    return
                self.license = self._client.validate_license(self._key, self._machine_id)
                # Without an answer the lease remains until it ends.
                if not self.license.is_transient:
                    self._lease = self.license.lease


def _renewal_delay(license: License) -> float:
    """Seconds: a third of the remaining time, so that two failed renewals do not lose the seat."""
    try:
        left = (_time((license.lease or {})["expires_at"]) - datetime.now(timezone.utc)).total_seconds()
    except (KeyError, ValueError):
        return 60.0
    return min(max(left / 3, 1.0), 3600.0)


DEEPEST = 32


def _plain(value: Any, depth: int = 0) -> Any:
    """What JSON can say of a value: no report is lost because of what its context holds. No number and too deep: None."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if not isinstance(value, (dict, list, tuple, set, frozenset)):
        return _text(value)
    if depth > DEEPEST:
        return None
    if isinstance(value, dict):
        return {_text(name): _plain(member, depth + 1) for name, member in list(value.items())}
    return [_plain(item, depth + 1) for item in value]


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # Its own __str__ may fail.
        return type(value).__qualname__


def _message(error: BaseException) -> str:
    return _text(error) or type(error).__qualname__


def _top_frame(error: BaseException) -> Optional[traceback.FrameSummary]:
    """The innermost frame; of a group that was never raised, its first member's."""
    for _ in range(10):
        frames = traceback.extract_tb(error.__traceback__)
        if frames:
            return frames[-1]
        members = getattr(error, "exceptions", None)
        if not isinstance(members, (list, tuple)) or not members or not isinstance(members[0], BaseException):
            return None
        error = members[0]
    return None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would take the token to another server."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class _Timed(io.RawIOBase):
    """The bytes of an answer, all within one limit of time: a socket by itself gives as much to each piece of it."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._bytes = sock.makefile("rb", buffering=0)
        limit = sock.gettimeout()
        self._end = math.inf if limit is None else time.monotonic() + limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        if left < math.inf:
            self._socket.settimeout(left)
        return self._bytes.readinto(buffer)

    def close(self) -> None:
        self._bytes.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(_Timed(sock))


class _Connection(http.client.HTTPConnection):
    response_class = _Response


class _SecureConnection(http.client.HTTPSConnection):
    response_class = _Response


class _Http(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_Connection, request)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_SecureConnection, request)


_OPENER = urllib.request.build_opener(_NoRedirect, _Http, _Https)


@dataclass(frozen=True)
class _Answer:
    #: None: nothing that was asked for.
    body: Optional[Json] = None
    code: Optional[str] = None
    unauthorized: bool = False
    is_transient: bool = True
    error: Optional[str] = None


def _judge(status: int, body: Optional[Json], license: bool) -> _Answer:
    """A success, or a definite refusal: 401, 404 and 422 in the service's own JSON. Everything else is transient."""
    status_text = (body or {}).get("status")
    named = status_text if isinstance(status_text, str) else None
    if license and status == 200 and named in STATUSES:
        return _Answer(body=body, is_transient=False)
    if not license and 200 <= status < 300 and named == "success":
        return _Answer(body=body, is_transient=False)
    error = (body or {}).get("error")
    code = error.get("code") if named == "error" and isinstance(error, dict) else None
    said = error if isinstance(error, dict) else (body or {})
    wrong = said.get("fields")
    message = said.get("message")
    if isinstance(wrong, dict) and wrong:
        message = "%s %s" % (message, ", ".join("%s: %s" % field for field in wrong.items()))
    if code is None and license:
        code = named
    if status in (401, 404, 422) and isinstance(code, str):
        return _Answer(code=code, unauthorized=status == 401, is_transient=False, error=f"{code}: {message or status}")
    return _Answer(error=f"{code or 'http_%d' % status}: {message or 'the server answered %d' % status}")


class _Float(float):
    """A number and how it was written: what was signed must not be written another way."""

    text: str

    def __new__(cls, text: str) -> "_Float":
        number = super().__new__(cls, text)
        number.text = text
        return number


def _parsed(raw: bytes) -> Optional[Json]:
    try:
        value = json.loads(raw.decode("utf-8"), parse_float=_Float)
        return value if isinstance(value, dict) else None
    except (ValueError, RecursionError):
        return None


def _canonical_json(value: Any) -> str:
    """RFC 8785, of parsed JSON whose numbers are written as the service wrote them."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(_canonical_json(name) + ":" + _canonical_json(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_canonical_json, value)) + "]"
    return value.text if isinstance(value, _Float) else json.dumps(value, ensure_ascii=False)


def machine_platform() -> str:
    """The runtime identifier of packages for this machine; `any` where there is none."""
    known = {("Windows", "AMD64"): "win-x64", ("Linux", "x86_64"): "linux-x64", ("Linux", "aarch64"): "linux-arm64"}
    return known.get((platform.system(), platform.machine()), "any")


def _machine_id(project: str, cache_dir: str) -> Tuple[str, bool]:
    """The id that the JavaScript SDK and the update agent use, and whether later starts will find it again.

    `SVC_MACHINE_ID` as it is, else derived from the system's id, else from a random text in the cache folder. That one is
    not stable in a container, nor in the process that created it: no start has found it yet."""
    configured = os.environ.get("SVC_MACHINE_ID", "").strip()
    if len(configured) > 128 or any(ord(character) < 32 for character in configured):
        raise ValueError("SVC_MACHINE_ID must be one line of at most 128 characters")
    if configured:
        return configured, True
    found, is_stable = _system_id(), True
    if found is None:
        found, is_new = _random_id(cache_dir)
        is_stable = not is_new and not _is_in_container()
    return _sha256(f"{project}\n{found.strip().lower()}"), is_stable


def _is_in_container() -> bool:
    """Whether this process runs in a container, whose files are usually new at each start."""
    by_variable = "KUBERNETES_SERVICE_HOST" in os.environ or os.environ.get("container", "") != ""
    return by_variable or any(map(os.path.exists, ("/.dockerenv", "/run/.containerenv")))


def _random_id(folder: str) -> Tuple[str, bool]:
    """The random id of the folder, and whether this call created it. A link fails where the name exists, so that processes
    that start together agree."""
    path, fresh = os.path.join(folder, "machine-id"), str(uuid.uuid4())
    temporary = f"{path}.{fresh}"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(fresh)
        os.link(temporary, path)
        return fresh, True
    except OSError:
        try:
            with open(path, encoding="ascii") as file:
                text = file.read().strip()
        except (OSError, ValueError):
            text = ""
        return (text, False) if text else (fresh, True)
    finally:
        try:
            os.remove(temporary)
        except OSError:
            pass


def _system_id() -> Optional[str]:
    if os.name == "nt":
        import winreg

        try:
            # A 32-bit Python reads another view of the registry by default.
            access = winreg.KEY_READ | winreg.KEY_WOW64_64KEY
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Microsoft\Cryptography", 0, access) as key:
                return str(winreg.QueryValueEx(key, "MachineGuid")[0])
        except OSError:
            return None
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            with open(path, encoding="ascii") as file:
                text = file.read().strip()
        except (OSError, ValueError):
            continue
        if re.match(r"[0-9a-f]{32}\Z", text):
            return text
    return None


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


#: Spaces, hyphens, what editors substitute for a hyphen, and characters that are not visible.
_SEPARATORS = "[\\s\\-\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d\u200b-\u200f\u2060\ufeff]+"


def _canonical_key(text: str) -> str:
    """The one spelling of a license key: upper case, in groups of five."""
    characters = re.sub(_SEPARATORS, "", text[:200].upper())
    return "-".join(characters[at : at + 5] for at in range(0, len(characters), 5))


def _cache_dir(project: str) -> str:
    """The same as the SDK's."""
    home = os.path.expanduser("~")
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(base, "aos", project)


class _KeptChain:
    """The keys that followed a pinned one, in a file that anybody may have written: it is verified at each read. Never raises."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = os.path.join(folder, "aos-keys.json")
        #: Where the folder cannot be written to.
        self._chain: Optional[Json] = None

    def read(self) -> Optional[Json]:
        try:
            with open(self._path, "rb") as file:
                return _chain_of(_parsed(file.read(2 * LONGEST_CHAIN * LONGEST_PEM)))
        except OSError:
            return self._chain

    def keep(self, chain: Optional[Json]) -> None:
        if chain is None or chain == self.read():
            return
        self._chain = chain
        try:
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self._folder, suffix=".tmp")
        except OSError:
            return
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(chain, file)
            os.replace(temporary, self._path)
        except OSError:
            try:
                os.unlink(temporary)
            except OSError:
                pass  # As when the folder was removed meanwhile.


# License files and signatures. Nothing is believed before its signature was verified, and the algorithm is the key's.


def verify_license_file(
    text: str,
    public_key: Pems,
    product: Optional[str] = None,
    machine_id: Optional[str] = None,
    now: Optional[datetime] = None,
) -> LicenseFile:
    """Verifies the text of a `.lic`: signature, times, and product and machine where they are given. Raises ValueError for a key that is none."""
    return _verified_file(text, _keys(public_key), product, machine_id, now)


def _answer_fault(keys: List["_Key"], answer: Json) -> Optional[str]:
    covered = {name: value for name, value in answer.items() if name != "signature"}
    try:
        signed = _canonical_json(covered).encode("utf-8")
    except (TypeError, ValueError):
        return "malformed"
    return _signature_fault(keys, answer.get("kid"), answer.get("alg"), answer.get("signature"), signed)


#: Who pinned a key before these begins anew.
LONGEST_CHAIN = 101
#: Of RSA, in base64: 16,384 bits.
LONGEST_SIGNATURE = 2_732


def _chain_of(body: Optional[Json]) -> Optional[Json]:
    """What is kept of `/pubkey`; None: it is none, by its looks."""
    earlier = (body or {}).get("predecessors")
    if body is None or not isinstance(earlier, list):
        return None
    try:
        links = [{name: link[name] for name in ("public_key", "signature")} for link in earlier[: LONGEST_CHAIN - 1]]
    except (KeyError, TypeError):
        return None
    texts = [text for link in links for text in link.values()] + [body.get("public_key")]
    if not all(isinstance(text, str) and len(text) <= LONGEST_PEM for text in texts):
        return None
    if any(len(link["signature"]) > LONGEST_SIGNATURE for link in links):
        return None
    return {"public_key": body["public_key"], "predecessors": links}


def _followed(pinned: List["_Key"], chain: Optional[Json]) -> List["_Key"]:
    """The keys that follow the earliest pinned one in what `/pubkey` publishes; none when one of them is no key, stands there twice, or
    was not signed by the one before it. What leads backwards proves nothing: anybody can sign our newest key."""
    if chain is None:
        return []
    links = [chain] + chain["predecessors"]
    try:
        keys = [_read_key(link["public_key"]) for link in links]
    except ValueError:
        return []
    known = [key.spki for key in keys]
    if len(set(known)) < len(known):
        return []
    pins = {key.spki for key in pinned}
    earliest = max((at for at, spki in enumerate(known) if spki in pins), default=0)
    for at in range(earliest, 0, -1):
        if not _is_signed_by(keys[at], known[at - 1], links[at]["signature"]):
            return []
    return keys[:earliest]


def _verified_file(
    text: str, keys: List["_Key"], product: Optional[str], machine_id: Optional[str], now: Optional[datetime]
) -> LicenseFile:
    file = _read_file(text)
    if file is None:
        return LicenseFile(False, reason="malformed")
    signed = ("aos-lic-v1." + file["enc"]).encode("ascii", "replace")
    fault = _signature_fault(keys, file["kid"], file["alg"], file["sig"], signed)
    if fault is not None:
        return LicenseFile(False, reason=fault)
    payload = _parsed(_base64(file["enc"]) or b"")
    if payload is None:
        return LicenseFile(False, reason="malformed")
    if payload.get("schema") != 1:
        return LicenseFile(False, reason="unknown_schema")
    at = datetime.now(timezone.utc) if now is None else now.astimezone(timezone.utc)
    reason = _payload_fault(payload, product, machine_id, at)
    return LicenseFile(reason is None, payload, reason)


def _payload_fault(payload: Json, product: Optional[str], machine_id: Optional[str], now: datetime) -> Optional[str]:
    try:
        if now < _time(payload["not_before"]):
            return "not_yet_valid"
        if now >= _time(payload["valid_until"]):
            return "file_expired"
        if payload["expires_at"] is not None and now >= _time(payload["expires_at"]):
            return "license_expired"
    except (KeyError, TypeError, ValueError):
        return "malformed"
    if product is not None and payload.get("product") != product:
        return "wrong_product"
    bound = payload.get("machine_id")
    return "wrong_machine" if machine_id is not None and bound is not None and bound != machine_id else None


def _time(text: Any) -> datetime:
    if not isinstance(text, str) or not text.endswith("Z"):
        raise ValueError("no time")
    return datetime.fromisoformat(text[:-1] + "+00:00")


_HEAD, _FOOT = "-----BEGIN LICENSE FILE-----", "-----END LICENSE FILE-----"


def _read_file(text: str) -> Optional[Dict[str, str]]:
    # Text around the block, line ends and the width of lines do not matter: the signature protects the content.
    start = text.find(_HEAD)
    end = text.find(_FOOT, start)
    if len(text) > LONGEST_FILE or start < 0 or end < 0:
        return None
    body = re.sub("[\\s>\u00ad\u200b-\u200f\u2060\ufeff]+", "", text[start + len(_HEAD) : end])
    parts = _parsed(_base64(body) or b"")
    if parts is None or sorted(parts) != ["alg", "enc", "kid", "sig"]:
        return None
    return parts if all(isinstance(part, str) for part in parts.values()) else None


def _base64(text: str) -> Optional[bytes]:
    """The bytes of base64 in its one spelling, with padding; None for any other text."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if raw and base64.b64encode(raw).decode("ascii") == text else None


@dataclass(frozen=True)
class _Key:
    spki: bytes
    algorithm: str
    #: Of RSA: modulus and exponent. Of Ed25519: the 32 bytes.
    numbers: Tuple[int, int] = (0, 0)
    point: bytes = b""

    @property
    def key_id(self) -> str:
        return hashlib.sha256(self.spki).hexdigest()[:16]


def _keys(public_key: Pems) -> List[_Key]:
    return [_read_key(pem) for pem in ([public_key] if isinstance(public_key, str) else public_key)]


_ED25519 = bytes.fromhex("302a300506032b6570032100")
_RSA = bytes.fromhex("300d06092a864886f70d0101010500")


def _read_key(pem: str) -> _Key:
    if len(pem) > LONGEST_PEM:
        raise ValueError("license_public_key is too long")
    match = re.match(r"\s*-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----\s*\Z", pem)
    spki = _base64("".join(match.group(1).split())) if match else None
    if spki is None:
        raise ValueError("license_public_key is no public key in PEM (SPKI)")
    if spki.startswith(_ED25519) and len(spki) == 44:
        return _Key(spki, "ed25519", point=spki[12:])
    try:
        whole, _ = _der(spki, 0x30)
        if not whole.startswith(_RSA):
            raise ValueError
        bits, _ = _der(whole[len(_RSA) :], 0x03)
        numbers, _ = _der(bits[1:], 0x30)
        modulus, rest = _der(numbers, 0x02)
        exponent, _ = _der(rest, 0x02)
    except (IndexError, ValueError):
        raise ValueError("license_public_key is neither an RSA nor an Ed25519 key") from None
    n, e = int.from_bytes(modulus, "big"), int.from_bytes(exponent, "big")
    if n.bit_length() < 2048:
        raise ValueError("license_public_key is an RSA key of less than 2048 bits")
    return _Key(spki, "rsa-sha256", numbers=(n, e))


def _der(data: bytes, tag: int) -> Tuple[bytes, bytes]:
    """The content of the element at the beginning, and what follows it."""
    if data[0] != tag:
        raise ValueError
    length, at = data[1], 2
    if length & 0x80:
        at += length & 0x7F
        length = int.from_bytes(data[2:at], "big")
    if at + length > len(data):
        raise ValueError
    return data[at : at + length], data[at + length :]


def _signature_fault(keys: List[_Key], kid: Any, alg: Any, signature: Any, signed: bytes) -> Optional[str]:
    key = next((key for key in keys if key.key_id == kid), None)
    if key is None:
        return "unknown_key"
    if key.algorithm != alg or not isinstance(signature, str):
        return "malformed"
    return None if _is_signed_by(key, signed, signature) else "wrong_signature"


def _is_signed_by(key: _Key, signed: bytes, signature: str) -> bool:
    raw = _base64(signature)
    return raw is not None and (_verify_rsa if key.algorithm == "rsa-sha256" else _verify_ed25519)(key, signed, raw)


_DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")


def _verify_rsa(key: _Key, signed: bytes, signature: bytes) -> bool:
    """RSASSA-PKCS1-v1_5 with SHA-256: the whole padded text is compared, so that nothing can hide in it."""
    n, e = key.numbers
    size = (n.bit_length() + 7) // 8
    number = int.from_bytes(signature, "big")
    if len(signature) != size or number >= n:
        return False
    tail = _DIGEST_INFO + hashlib.sha256(signed).digest()
    expected = b"\x00\x01" + b"\xff" * (size - len(tail) - 3) + b"\x00" + tail
    return pow(number, e, n).to_bytes(size, "big") == expected


# Ed25519 (RFC 8032, 5.1). Verifying works on public values alone, so it need not take the same time for all of them.
_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_Point = Tuple[int, int, int, int]


def _add(p: _Point, q: _Point) -> _Point:
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % _P, (p[1] + p[0]) * (q[1] + q[0]) % _P
    c, d = 2 * p[3] * q[3] * _D % _P, 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(scalar: int, point: _Point) -> _Point:
    product = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            product = _add(product, point)
        point = _add(point, point)
        scalar >>= 1
    return product


def _point(encoded: bytes) -> Optional[_Point]:
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P != 0:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if (x * x - square) % _P != 0 or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


_BASE = _point(bytes([0x58]) + bytes([0x66]) * 31)


def _verify_ed25519(key: _Key, signed: bytes, signature: bytes) -> bool:
    if len(signature) != 64 or _BASE is None:
        return False
    a, r, s = _point(key.point), _point(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= _L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key.point + signed).digest(), "little") % _L
    left, right = _times(s, _BASE), _add(r, _times(h, a))
    return (left[0] * right[2] - right[0] * left[2]) % _P == 0 and (left[1] * right[2] - right[1] * left[2]) % _P == 0
