// A small client of AOS for C#: one file, no packages; .NET Framework 4.7.1 and later, Mono, and .NET (docs/clients.md).
//
// Updates, licenses (online and by a .lic file), heartbeats and error reports. Methods do not throw when the network or the server
// fails: their result says so. IsTransient: nothing definite was answered, ask again later.
#pragma warning disable SYSLIB0014 // HttpWebRequest is what all of these have.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Net;
using System.Numerics;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using Microsoft.Win32;

namespace Aos
{
    public sealed class Update
    {
        public bool UpdateAvailable;
        public string LatestVersion;
        /// <summary>As the server sent it; its package_url is relative to the server's address.</summary>
        public IDictionary<string, object> Release;
        /// <summary>A matter of the credentials and not of the network.</summary>
        public bool Unauthorized;
        public bool IsTransient;
        public string Error;
    }

    public sealed class License
    {
        /// <summary>The license's status, the error code of a definite refusal, or null where nothing is known.</summary>
        public string Status;
        public bool Valid;
        /// <summary>The server's signature was verified with the public key.</summary>
        public bool Verified;
        public bool IsTransient;
        /// <summary>What the server remarks, such as "machine_id_unstable: ...", signed with the rest.</summary>
        public string[] Warnings = new string[0];
        /// <summary>The machine's seat of a floating license: id and expires_at. Null without a seat.</summary>
        public IDictionary<string, object> Lease;
        /// <summary>used and max of a floating license.</summary>
        public IDictionary<string, object> Seats;
        /// <summary>Features in force, each with name and until.</summary>
        public IDictionary<string, object>[] Entitlements = new IDictionary<string, object>[0];
        /// <summary>An expired license is valid until then, with the status grace.</summary>
        public string GraceUntil;
    }

    /// <summary>
    /// A seat of a floating license. A timer renews its lease; Dispose and the exit of the process give it back. A process that is
    /// killed keeps it until the lease ends.
    /// </summary>
    public sealed class Seat : IDisposable
    {
        readonly Client client;
        readonly string key;
        readonly string machineId;
        readonly object gate = new object();
        readonly Timer timer;
        bool isEnded;
        IDictionary<string, object> lease;

        /// <summary>The latest result. Without a free seat the timer tries again every minute.</summary>
        public License License { get; private set; }

        internal Seat(Client client, string key, string machineId)
        {
            this.client = client;
            this.key = key;
            this.machineId = machineId;
            License = client.ValidateLicense(key, machineId);
            lease = License.Lease;
            AppDomain.CurrentDomain.ProcessExit += OnExit;
            timer = new Timer(_ => Renew(), null, RenewalDelay(), Timeout.Infinite);
        }

        /// <summary>Stops renewing and gives the seat back.</summary>
        public void Dispose()
        {
            AppDomain.CurrentDomain.ProcessExit -= OnExit;
            timer.Dispose();
            // A renewal that is on its way may take the seat again.
            lock (gate)
            {
                isEnded = true;
                if (lease != null) client.ReleaseLicense((string)lease["id"]);
                lease = null;
            }
        }

        void OnExit(object sender, EventArgs args) { Dispose(); }

        void Renew()
        {
            lock (gate)
            {
                if (isEnded) return;
                License = client.ValidateLicense(key, machineId);
                // Without an answer the lease remains until it ends.
                if (!License.IsTransient) lease = License.Lease;
                try { timer.Change(RenewalDelay(), Timeout.Infinite); }
                catch (ObjectDisposedException) { }
            }
        }

        /// <summary>Milliseconds: a third of the remaining time, so that two failed renewals do not lose the seat.</summary>
        int RenewalDelay()
        {
            DateTimeOffset end;
            var text = License.Lease == null ? null : Json.Member(License.Lease, "expires_at") as string;
            if (!DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, DateTimeStyles.None, out end)) return 60000;
            var left = (end - DateTimeOffset.UtcNow).TotalMilliseconds / 3;
            return (int)Math.Min(Math.Max(left, 1000), 3600000);
        }
    }

    public sealed class LicenseFile
    {
        public bool Valid;
        /// <summary>Of a file with a right signature, whatever else is wrong with it.</summary>
        public IDictionary<string, object> Payload;
        public string Reason;
    }

    /// <summary>What became of a heartbeat or of a report.</summary>
    public sealed class Sent
    {
        public bool Ok;
        /// <summary>As the server answered it: state of a heartbeat; ref, created and ignored of a report.</summary>
        public IDictionary<string, object> Answer = new Dictionary<string, object>();
        public bool Unauthorized;
        public bool IsTransient;
        public string Error;
    }

    /// <summary>The client of one project, which is the product of releases and licenses as well.</summary>
    public sealed class Client
    {
        static readonly HashSet<string> Statuses = new HashSet<string>
        {
            "active", "grace", "expired", "inactive", "revoked", "pending", "invalid", "product_mismatch", "no_seat_free",
            "machine_limit", "machine_pending", "machine_blocked",
        };

        readonly string server;
        readonly string project;
        readonly string token;
        readonly PublicKey[] keys;
        readonly KeptChain chain;
        readonly int timeout;

        readonly bool isStable;

        /// <summary>What this machine is called in update checks and licenses.</summary>
        public string MachineId { get; }

        /// <param name="licensePublicKeys">PEM; with one no answer about a license is believed that it, or a key that followed it, did
        /// not sign.</param>
        /// <param name="cacheDir">Folder of aos-keys.json, where the keys that followed are kept; default: the user's cache folder.</param>
        public Client(string server, string project, string token = null, string[] licensePublicKeys = null,
            string machineId = null, int timeoutMilliseconds = 10000, string cacheDir = null)
        {
            if (!Regex.IsMatch(server ?? "", @"^https?://[^/?#@]+(/[^?#]*)?\z"))
                throw new ArgumentException("server must be an address such as https://aos.example.com");
            if (!Regex.IsMatch(project ?? "", @"^[a-z0-9][a-z0-9._-]{0,63}\z"))
                throw new ArgumentException("project must be a slug such as shop");
            this.server = server.TrimEnd('/');
            this.project = project;
            this.token = token;
            keys = (licensePublicKeys ?? new string[0]).Select(PublicKey.Read).ToArray();
            chain = new KeptChain(cacheDir ?? Machine.CacheDir(project));
            timeout = timeoutMilliseconds;
            MachineId = machineId ?? Machine.Id(project, cacheDir ?? Machine.CacheDir(project), out isStable);
            if (machineId != null) isStable = true;
        }

        /// <param name="platform">win-x64, linux-x64, linux-arm64 or any; default: this machine's.</param>
        public Update CheckForUpdate(string currentVersion, string channel = "stable", string platform = null)
        {
            var query = new Dictionary<string, string>
            {
                { "product", project }, { "version", currentVersion }, { "channel", channel },
                { "platform", platform ?? Machine.Platform() }, { "instance_id", MachineId },
            };
            var text = string.Join("&", query.Select(pair => pair.Key + "=" + Uri.EscapeDataString(pair.Value)));
            var answer = Ask("GET", "/api/updateservice/v1/check?" + text, null, false);
            if (answer.Body == null)
                return new Update { Unauthorized = answer.Unauthorized, IsTransient = answer.IsTransient, Error = answer.Error };
            var found = Equals(Json.Member(answer.Body, "update_available"), true);
            return new Update
            {
                UpdateAvailable = found,
                LatestVersion = Json.Member(answer.Body, "latest_version") as string,
                Release = found ? Json.Member(answer.Body, "release") as IDictionary<string, object> : null,
            };
        }

        /// <summary>Whether a license key is good for this project, on this machine. Keep the last answer for the time without the server.</summary>
        public License ValidateLicense(string key, string machineId = null)
        {
            var machine = machineId ?? MachineId;
            var nonce = keys.Length > 0 ? RandomHex() : null;
            var asked = new Dictionary<string, object>
            {
                { "license_key", key }, { "product", project }, { "platform", Machine.Platform() },
            };
            asked["machine_id"] = machine;
            if (machineId == null && !isStable) asked["machine_unstable"] = true;
            if (nonce != null) asked["nonce"] = nonce;
            var answer = Ask("POST", "/api/license/v1/validate", asked, true);
            if (answer.Body == null) return new License { Status = answer.Code, IsTransient = answer.IsTransient };
            if (keys.Length > 0)
            {
                var same = ByKnownKeys(known => PublicKey.AnswerFault(known, answer.Body), fault => fault) == null
                    && Equals(Json.Member(answer.Body, "key_sha256"), Hash.Sha256(LicenseKeys.Canonical(key)))
                    && Equals(Json.Member(answer.Body, "product"), project)
                    && Equals(Json.Member(answer.Body, "machine_id"), machine)
                    && Equals(Json.Member(answer.Body, "nonce"), nonce);
                if (!same) return new License { IsTransient = true };
            }
            var status = (string)answer.Body["status"];
            var warnings = Json.Member(answer.Body, "warnings") as IEnumerable<object>;
            var entitlements = Json.Member(answer.Body, "entitlements") as IEnumerable<object>;
            return new License
            {
                Status = status, Valid = status == "active" || status == "grace", Verified = keys.Length > 0,
                Lease = Json.Member(answer.Body, "lease") as IDictionary<string, object>,
                Seats = Json.Member(answer.Body, "seats") as IDictionary<string, object>,
                Entitlements = (entitlements ?? new object[0]).OfType<IDictionary<string, object>>().ToArray(),
                GraceUntil = Json.Member(answer.Body, "grace_until") as string,
                Warnings = warnings == null ? new string[0] : warnings.OfType<string>().ToArray(),
            };
        }

        /// <summary>Gives a floating seat back.</summary>
        /// <param name="leaseId">The id of License.Lease.</param>
        public bool ReleaseLicense(string leaseId)
        {
            var body = new Dictionary<string, object> { { "lease_id", leaseId } };
            return Fetch("POST", "/api/license/v1/validate/release", body, true,
                (status, answer) => Judge(status, answer, false)).Body != null;
        }

        /// <summary>Takes a seat of a floating license and holds it until the result is disposed, or the process exits.</summary>
        public Seat HoldSeat(string key, string machineId = null) { return new Seat(this, key, machineId); }

        /// <summary>
        /// Verifies the text of a .lic for this project and machine. The server is asked only for a key that followed the pinned one.
        /// </summary>
        public LicenseFile LoadLicenseFile(string text, DateTimeOffset? now = null)
        {
            var at = now ?? DateTimeOffset.UtcNow;
            return ByKnownKeys(known => LicenseFiles.Verify(text, known, project, MachineId, at), file => file.Reason);
        }

        /// <summary>Verifies by the pinned keys, then by the chain that is kept, then by the server's.</summary>
        T ByKnownKeys<T>(Func<PublicKey[], T> verify, Func<T, string> fault)
        {
            var first = verify(keys);
            if (fault(first) != "unknown_key" || keys.Length == 0) return first;
            foreach (var read in new Func<KeyChain>[] { chain.Read, PublishedChain })
            {
                var found = read();
                var followed = found == null ? new PublicKey[0] : found.Followed(keys);
                if (followed.Length == 0) continue;
                var result = verify(keys.Concat(followed).ToArray());
                if (fault(result) == "unknown_key") continue;
                chain.Keep(found);
                return result;
            }
            return first;
        }

        KeyChain PublishedChain()
        {
            var answer = Fetch("GET", "/api/license/v1/pubkey", null, false, (status, body) => new Exchange
            {
                Body = status == 200 ? body : null,
            });
            return KeyChain.Of(answer.Body);
        }

        /// <param name="fields">interval (seconds), message, checks, metrics, app_version.</param>
        public Sent Heartbeat(string source, string status = "ok", IDictionary<string, object> fields = null)
        {
            var beat = new Dictionary<string, object>(fields ?? new Dictionary<string, object>());
            beat["source"] = source;
            beat["status"] = status;
            if (isStable && !beat.ContainsKey("instance_id")) beat["instance_id"] = MachineId;
            return Send("/api/watchdog/v1/ping", beat);
        }

        /// <summary>Who uses the application: every report names them. The server keeps only a keyed hash of it. Null: nobody.</summary>
        public string UserId { get; set; }

        /// <param name="fields">error_level, exception_class, stack_trace, app_version, environment, tags, …; the same client_ref counts once.</param>
        public Sent ReportError(string message, IDictionary<string, object> fields = null)
        {
            var report = new Dictionary<string, object>(fields ?? new Dictionary<string, object>());
            if (!report.ContainsKey("error_level")) report["error_level"] = "error";
            if (UserId != null && !report.ContainsKey("user")) report["user"] = new Dictionary<string, object> { { "id", UserId } };
            report["project"] = project;
            report["error_message"] = Cut(message ?? "", 8192);
            if (!report.ContainsKey("client_ref")) report["client_ref"] = RandomHex();
            return Send("/api/errors/v1/report", report);
        }

        /// <summary>Reports what was thrown, with its stack trace: file and line where the program has them (a .pdb beside it).</summary>
        public Sent CaptureException(Exception error, IDictionary<string, object> fields = null)
        {
            var report = new Dictionary<string, object>
            {
                { "exception_class", error.GetType().FullName }, { "stack_trace", Cut(error.ToString(), 65536) },
            };
            var top = TopFrame(error);
            if (top != null)
            {
                report["file"] = top.GetFileName();
                report["line"] = top.GetFileLineNumber();
            }
            foreach (var pair in fields ?? new Dictionary<string, object>()) report[pair.Key] = pair.Value;
            return ReportError(error.Message, report);
        }

        /// <summary>The first frame with a file; of a group that has none, its first member's.</summary>
        static StackFrame TopFrame(Exception error)
        {
            for (var depth = 0; error != null && depth < 10; depth++, error = error.InnerException)
            {
                var frames = new StackTrace(error, true).GetFrames() ?? new StackFrame[0];
                var top = frames.FirstOrDefault(frame => frame != null && !string.IsNullOrEmpty(frame.GetFileName()));
                if (top != null) return top;
            }
            return null;
        }

        static string Cut(string text, int most) { return text.Length > most ? text.Substring(0, most) : text; }

        static string RandomHex()
        {
            var bytes = new byte[16];
            using (var random = RandomNumberGenerator.Create()) random.GetBytes(bytes);
            return Hash.Hex(bytes);
        }

        Sent Send(string path, IDictionary<string, object> body)
        {
            var answer = Ask("POST", path, body, false);
            return new Sent
            {
                Ok = answer.Body != null,
                Answer = answer.Body ?? new Dictionary<string, object>(),
                Unauthorized = answer.Unauthorized,
                IsTransient = answer.IsTransient,
                Error = answer.Error,
            };
        }

        sealed class Exchange
        {
            public IDictionary<string, object> Body;
            public string Code;
            public string Error;
            public bool Unauthorized;
            public bool IsTransient;
        }

        Exchange Ask(string method, string path, IDictionary<string, object> body, bool license)
        {
            return Fetch(method, path, body, license, (status, answer) => Judge(status, answer, license));
        }

        Exchange Fetch(string method, string path, IDictionary<string, object> body, bool license,
            Func<int, IDictionary<string, object>, Exchange> judge)
        {
            Func<HttpWebResponse, Exchange> judged = response =>
                judge((int)response.StatusCode, Json.ParseObject(Read(response, timeout)) ?? new Dictionary<string, object>());
            try
            {
                var request = (HttpWebRequest)WebRequest.Create(server + path);
                request.Method = method;
                request.Accept = "application/json";
                request.Timeout = timeout;
                request.ReadWriteTimeout = timeout;
                // A redirect would take the token to another server.
                request.AllowAutoRedirect = false;
                if (body != null)
                {
                    if (token != null && !license) request.Headers["Authorization"] = "Bearer " + token;
                    var data = Encoding.UTF8.GetBytes(Json.Write(body));
                    request.ContentType = "application/json";
                    request.ContentLength = data.Length;
                    using (var stream = request.GetRequestStream()) stream.Write(data, 0, data.Length);
                }
                using (var response = (HttpWebResponse)request.GetResponse()) return judged(response);
            }
            catch (WebException error)
            {
                var response = error.Response as HttpWebResponse;
                if (response == null) return new Exchange { IsTransient = true, Error = error.Message };
                using (response)
                {
                    try { return judged(response); }
                    catch (IOException fault) { return new Exchange { IsTransient = true, Error = fault.Message }; }
                    catch (WebException fault) { return new Exchange { IsTransient = true, Error = fault.Message }; }
                }
            }
            catch (IOException error) { return new Exchange { IsTransient = true, Error = error.Message }; }
        }

        /// <summary>A success, or a definite refusal: 401, 404 and 422 in the service's own JSON. Everything else is transient.</summary>
        static Exchange Judge(int status, IDictionary<string, object> body, bool license)
        {
            var named = Json.Member(body, "status") as string;
            if (license ? status == 200 && named != null && Statuses.Contains(named) : status / 100 == 2 && named == "success")
                return new Exchange { Body = body };
            var error = Json.Member(body, "error") as IDictionary<string, object>;
            var code = named == "error" && error != null ? Json.Member(error, "code") as string : license ? named : null;
            var message = Json.Member(error ?? body, "message") as string ?? "the server answered " + status;
            var wrong = Json.Member(error ?? body, "fields") as IDictionary<string, object>;
            if (wrong != null) message += " " + string.Join(", ", wrong.Select(field => field.Key + ": " + field.Value));
            var definite = code != null && (status == 401 || status == 404 || status == 422);
            return new Exchange
            {
                Code = definite ? code : null,
                Error = (code ?? "http_" + status) + ": " + message,
                Unauthorized = definite && status == 401,
                IsTransient = !definite,
            };
        }

        const int LongestAnswer = 64 * 1024 * 1024;

        /// <summary>The whole answer, within one limit of time: the stream by itself gives as much to each piece of it.</summary>
        static string Read(HttpWebResponse response, int timeout)
        {
            var passed = Stopwatch.StartNew();
            using (var stream = response.GetResponseStream())
            using (var whole = new MemoryStream())
            {
                var piece = new byte[65536];
                for (int length; (length = stream.Read(piece, 0, piece.Length)) > 0;)
                {
                    if (whole.Length + length > LongestAnswer) throw new IOException("the answer is too long");
                    if (passed.ElapsedMilliseconds > timeout) throw new IOException("the answer takes too long");
                    whole.Write(piece, 0, length);
                }
                return Encoding.UTF8.GetString(whole.ToArray());
            }
        }
    }

    /// <summary>License files, verified without the server. Nothing is believed before its signature was verified.</summary>
    public static class LicenseFiles
    {
        const string Head = "-----BEGIN LICENSE FILE-----";
        const string Foot = "-----END LICENSE FILE-----";
        const int Longest = 256 * 1024;

        /// <summary>Signature and times, and product and machine where they are given.</summary>
        public static LicenseFile Verify(string text, string publicKeyPem, string product = null, string machineId = null,
            DateTimeOffset? now = null)
        {
            return Verify(text, new[] { PublicKey.Read(publicKeyPem) }, product, machineId, now ?? DateTimeOffset.UtcNow);
        }

        /// <summary>By several keys, any of which may have signed.</summary>
        public static LicenseFile Verify(string text, string[] publicKeyPems, string product = null, string machineId = null,
            DateTimeOffset? now = null)
        {
            return Verify(text, publicKeyPems.Select(PublicKey.Read).ToArray(), product, machineId, now ?? DateTimeOffset.UtcNow);
        }

        internal static LicenseFile Verify(string text, PublicKey[] keys, string product, string machineId, DateTimeOffset now)
        {
            var file = Read(text);
            if (file == null) return new LicenseFile { Reason = "malformed" };
            var enc = (string)file["enc"];
            var fault = PublicKey.Fault(keys, file, "sig", Encoding.UTF8.GetBytes("aos-lic-v1." + enc));
            if (fault != null) return new LicenseFile { Reason = fault };
            var bytes = Base64.Canonical(enc);
            var payload = bytes == null ? null : Json.ParseObject(Encoding.UTF8.GetString(bytes));
            if (payload == null) return new LicenseFile { Reason = "malformed" };
            if (!Equals((Json.Member(payload, "schema") as Number)?.Text, "1")) return new LicenseFile { Reason = "unknown_schema" };
            var reason = PayloadFault(payload, product, machineId, now);
            return new LicenseFile { Valid = reason == null, Payload = payload, Reason = reason };
        }

        static string PayloadFault(IDictionary<string, object> payload, string product, string machineId, DateTimeOffset now)
        {
            var from = Time(Json.Member(payload, "not_before"));
            var until = Time(Json.Member(payload, "valid_until"));
            var end = Json.Member(payload, "expires_at");
            if (from == null || until == null || (end != null && Time(end) == null)) return "malformed";
            if (now < from) return "not_yet_valid";
            if (now >= until) return "file_expired";
            if (end != null && now >= Time(end)) return "license_expired";
            if (product != null && !Equals(Json.Member(payload, "product"), product)) return "wrong_product";
            var bound = Json.Member(payload, "machine_id");
            return machineId != null && bound != null && !Equals(bound, machineId) ? "wrong_machine" : null;
        }

        static DateTimeOffset? Time(object text)
        {
            DateTimeOffset time;
            return DateTimeOffset.TryParseExact(text as string, "yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture,
                DateTimeStyles.AssumeUniversal, out time) ? time : (DateTimeOffset?)null;
        }

        static IDictionary<string, object> Read(string text)
        {
            if (text == null || text.Length > Longest) return null;
            // Text around the block, line ends and the width of lines do not matter: the signature protects the content.
            var start = text.IndexOf(Head, StringComparison.Ordinal);
            var end = start < 0 ? -1 : text.IndexOf(Foot, start, StringComparison.Ordinal);
            if (end < 0) return null;
            var body = text.Substring(start + Head.Length, end - start - Head.Length);
            var bytes = Base64.Canonical(Regex.Replace(body, "[\\s>\u00ad\u200b-\u200f\u2060\ufeff]+", ""));
            var file = bytes == null ? null : Json.ParseObject(Encoding.UTF8.GetString(bytes));
            var names = new[] { "enc", "sig", "alg", "kid" };
            return file != null && file.Count == 4 && names.All(name => Json.Member(file, name) is string) ? file : null;
        }
    }

    /// <summary>A public key, SPKI in PEM. The algorithm is the key's, never what a document says of itself.</summary>
    public sealed class PublicKey
    {
        static readonly byte[] Ed25519Head = Hash.Bytes("302a300506032b6570032100");
        static readonly byte[] RsaHead = Hash.Bytes("300d06092a864886f70d0101010500");

        const int LongestPem = 16384;

        string id;
        byte[] spki;
        string algorithm;
        byte[] point;
        RSAParameters rsa;

        /// <exception cref="ArgumentException">It is neither an Ed25519 key nor an RSA key of 2048 bits or more.</exception>
        public static PublicKey Read(string pem)
        {
            if (pem != null && pem.Length > LongestPem) throw new ArgumentException("is too long for a public key");
            var match = Regex.Match(pem ?? "", @"^\s*-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----\s*\z");
            var spki = match.Success ? Base64.Canonical(Regex.Replace(match.Groups[1].Value, @"\s+", "")) : null;
            if (spki == null) throw new ArgumentException("is no public key in PEM (SPKI)");
            var key = new PublicKey { id = Hash.Sha256(spki).Substring(0, 16), spki = spki };
            if (spki.Length == 44 && Begins(spki, Ed25519Head))
            {
                key.algorithm = "ed25519";
                key.point = spki.Skip(12).ToArray();
                return key;
            }
            try
            {
                var at = 0;
                var whole = Der(spki, ref at, 0x30);
                if (!Begins(whole, RsaHead)) throw new ArgumentException();
                at = RsaHead.Length;
                var bits = Der(whole, ref at, 0x03);
                at = 1;
                var numbers = Der(bits, ref at, 0x30);
                at = 0;
                var modulus = Der(numbers, ref at, 0x02).SkipWhile(b => b == 0).ToArray();
                key.rsa = new RSAParameters { Modulus = modulus, Exponent = Der(numbers, ref at, 0x02) };
            }
            catch (Exception error) when (error is ArgumentException || error is IndexOutOfRangeException)
            {
                throw new ArgumentException("is neither an RSA nor an Ed25519 key");
            }
            if (key.rsa.Modulus.Length < 256) throw new ArgumentException("is an RSA key of less than 2048 bits");
            key.algorithm = "rsa-sha256";
            return key;
        }

        /// <summary>What is wrong with the signature of a document that names kid and alg; null: it is right.</summary>
        internal static string Fault(PublicKey[] keys, IDictionary<string, object> document, string signature, byte[] signed)
        {
            var key = keys.FirstOrDefault(each => Equals(each.id, Json.Member(document, "kid")));
            if (key == null) return "unknown_key";
            var text = Json.Member(document, signature) as string;
            if (text == null || !Equals(key.algorithm, Json.Member(document, "alg"))) return "malformed";
            return key.HasSigned(signed, text) ? null : "wrong_signature";
        }

        /// <summary>What is wrong with the signature of an answer of validate; null: it is right.</summary>
        internal static string AnswerFault(PublicKey[] keys, IDictionary<string, object> answer)
        {
            var covered = answer.Where(pair => pair.Key != "signature").ToDictionary(pair => pair.Key, pair => pair.Value);
            return Fault(keys, answer, "signature", Encoding.UTF8.GetBytes(Json.Write(covered)));
        }

        internal bool Is(PublicKey other) { return spki.SequenceEqual(other.spki); }
        internal bool HasSigned(PublicKey successor, string signature) { return HasSigned(successor.spki, signature); }

        bool HasSigned(byte[] signed, string signature)
        {
            var bytes = Base64.Canonical(signature);
            return bytes != null && Verifies(signed, bytes);
        }

        bool Verifies(byte[] signed, byte[] signature)
        {
            if (algorithm == "ed25519") return Ed25519.Verifies(point, signed, signature);
            using (var provider = RSA.Create())
            {
                provider.ImportParameters(rsa);
                return signature.Length == rsa.Modulus.Length
                    && provider.VerifyData(signed, signature, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
            }
        }

        static bool Begins(byte[] bytes, byte[] head) { return bytes.Length >= head.Length && bytes.Take(head.Length).SequenceEqual(head); }

        static byte[] Der(byte[] data, ref int at, byte tag)
        {
            if (data[at++] != tag) throw new ArgumentException();
            int length = data[at++];
            if ((length & 0x80) != 0)
            {
                var digits = length & 0x7f;
                if (digits > 3) throw new ArgumentException();
                for (length = 0; digits > 0; digits--) length = (length << 8) | data[at++];
            }
            if (at + length > data.Length) throw new ArgumentException();
            var content = new byte[length];
            Array.Copy(data, at, content, 0, length);
            at += length;
            return content;
        }
    }

    /// <summary>What /pubkey publishes of the keys, the newest first.</summary>
    sealed class KeyChain
    {
        /// <summary>Who pinned a key before these begins anew.</summary>
        const int Longest = 101;
        /// <summary>Of RSA, in base64: 16,384 bits.</summary>
        const int LongestSignature = 2732;

        PublicKey[] keys;
        string[] pems;
        /// <summary>Of each key but the newest, over the SPKI DER of the one before it here.</summary>
        string[] signatures;

        /// <summary>Null: it is no chain, or one with garbage or with a key twice.</summary>
        public static KeyChain Of(IDictionary<string, object> body)
        {
            var earlier = body == null ? null : Json.Member(body, "predecessors") as IList<object>;
            if (earlier == null) return null;
            var links = earlier.Take(Longest - 1).Select(link => link as IDictionary<string, object>).ToArray();
            if (links.Contains(null)) return null;
            var chain = new KeyChain
            {
                pems = new[] { body }.Concat(links).Select(link => Json.Member(link, "public_key") as string).ToArray(),
                signatures = links.Select(link => Json.Member(link, "signature") as string).ToArray(),
            };
            if (chain.signatures.Any(signature => signature == null || signature.Length > LongestSignature)) return null;
            try { chain.keys = chain.pems.Select(PublicKey.Read).ToArray(); }
            catch (ArgumentException) { return null; }
            return chain.keys.Any(key => chain.keys.Count(key.Is) > 1) ? null : chain;
        }

        /// <summary>
        /// The keys that follow the earliest pinned one; none when one was not signed by the one before it. What leads backwards proves
        /// nothing: anybody can sign our newest key.
        /// </summary>
        public PublicKey[] Followed(PublicKey[] pinned)
        {
            var earliest = Array.FindLastIndex(keys, key => pinned.Any(key.Is));
            for (var at = earliest; at > 0; at--)
                if (!keys[at].HasSigned(keys[at - 1], signatures[at - 1])) return new PublicKey[0];
            return keys.Take(Math.Max(0, earliest)).ToArray();
        }

        public string Text()
        {
            var links = signatures.Select((signature, at) => new Dictionary<string, object>
            {
                { "public_key", pems[at + 1] }, { "signature", signature },
            });
            return Json.Write(new Dictionary<string, object> { { "public_key", pems[0] }, { "predecessors", links.ToArray() } });
        }
    }

    /// <summary>The keys that followed a pinned one, in a file that anybody may have written: it is verified at each read.</summary>
    sealed class KeptChain
    {
        const int Longest = 4 * 1024 * 1024;

        readonly string folder;
        readonly string path;
        /// <summary>Where the folder cannot be written to.</summary>
        KeyChain kept;

        public KeptChain(string folder)
        {
            this.folder = folder;
            path = Path.Combine(folder, "aos-keys.json");
        }

        public KeyChain Read()
        {
            try
            {
                return new FileInfo(path).Length > Longest ? null : KeyChain.Of(Json.ParseObject(File.ReadAllText(path)));
            }
            catch (IOException) { return kept; }
            catch (UnauthorizedAccessException) { return kept; }
        }

        public void Keep(KeyChain chain)
        {
            var before = Read();
            if (before != null && before.Text() == chain.Text()) return;
            kept = chain;
            var temporary = path + "." + Guid.NewGuid().ToString("N") + ".tmp";
            try
            {
                Directory.CreateDirectory(folder);
                File.WriteAllText(temporary, chain.Text());
                // Two programs may write at once; what counts is that one of them does.
                if (File.Exists(path)) File.Replace(temporary, path, null);
                else File.Move(temporary, path);
            }
            catch (IOException) { Remove(temporary); }
            catch (UnauthorizedAccessException) { Remove(temporary); }
        }

        static void Remove(string file)
        {
            try { File.Delete(file); }
            catch (IOException) { }
            catch (UnauthorizedAccessException) { }
        }
    }

    /// <summary>
    /// Ed25519 (RFC 8032, 5.1), since the class library has none. Verifying works on public values alone, so it need not take the same
    /// time for all of them.
    /// </summary>
    static class Ed25519
    {
        static readonly BigInteger P = BigInteger.Pow(2, 255) - 19;
        static readonly BigInteger L = BigInteger.Pow(2, 252) + BigInteger.Parse("27742317777372353535851937790883648493");
        static readonly BigInteger D = Mod(-121665 * Inverse(121666));
        static readonly BigInteger RootOfMinusOne = BigInteger.ModPow(2, (P - 1) / 4, P);
        static readonly BigInteger[] Base = Point(Enumerable.Repeat((byte)0x66, 32).Select((b, i) => i == 0 ? (byte)0x58 : b).ToArray());

        public static bool Verifies(byte[] key, byte[] signed, byte[] signature)
        {
            if (signature.Length != 64) return false;
            var head = signature.Take(32).ToArray();
            var a = Point(key);
            var r = Point(head);
            var s = Number(signature.Skip(32).ToArray());
            if (a == null || r == null || s >= L) return false;
            BigInteger h;
            using (var sha = SHA512.Create()) h = Number(sha.ComputeHash(head.Concat(key).Concat(signed).ToArray())) % L;
            var left = Times(s, Base);
            var right = Add(r, Times(h, a));
            return Mod(left[0] * right[2] - right[0] * left[2]).IsZero && Mod(left[1] * right[2] - right[1] * left[2]).IsZero;
        }

        static BigInteger Mod(BigInteger x) { var rest = x % P; return rest.Sign < 0 ? rest + P : rest; }
        static BigInteger Inverse(BigInteger x) { return BigInteger.ModPow(x, P - 2, P); }
        /// <summary>Little-endian and without sign.</summary>
        static BigInteger Number(byte[] bytes) { return new BigInteger(bytes.Concat(new byte[] { 0 }).ToArray()); }

        static BigInteger[] Add(BigInteger[] p, BigInteger[] q)
        {
            var a = Mod((p[1] - p[0]) * (q[1] - q[0]));
            var b = Mod((p[1] + p[0]) * (q[1] + q[0]));
            var c = Mod(2 * p[3] * q[3] * D);
            var d = Mod(2 * p[2] * q[2]);
            BigInteger e = b - a, f = d - c, g = d + c, h = b + a;
            return new[] { Mod(e * f), Mod(g * h), Mod(f * g), Mod(e * h) };
        }

        static BigInteger[] Times(BigInteger scalar, BigInteger[] point)
        {
            BigInteger[] product = { 0, 1, 1, 0 };
            for (; scalar.Sign > 0; scalar >>= 1)
            {
                if (!scalar.IsEven) product = Add(product, point);
                point = Add(point, point);
            }
            return product;
        }

        /// <summary>Null: these bytes are no point.</summary>
        static BigInteger[] Point(byte[] encoded)
        {
            var y = Number(encoded);
            var odd = !(y >> 255).IsZero;
            y &= (BigInteger.One << 255) - 1;
            if (y >= P) return null;
            var square = Mod((y * y - 1) * Inverse(Mod(D * y * y + 1)));
            var x = BigInteger.ModPow(square, (P + 3) / 8, P);
            if (!Mod(x * x - square).IsZero) x = Mod(x * RootOfMinusOne);
            if (!Mod(x * x - square).IsZero || (x.IsZero && odd)) return null;
            if (x.IsEven == odd) x = P - x;
            return new[] { x, y, BigInteger.One, Mod(x * y) };
        }
    }

    static class LicenseKeys
    {
        /// <summary>Spaces, hyphens, what editors substitute for a hyphen, and characters that are not visible.</summary>
        const string Separators = "[\\s\\-\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d\u200b-\u200f\u2060\ufeff]+";

        /// <summary>The one spelling of a license key: upper case, in groups of five.</summary>
        public static string Canonical(string text)
        {
            var characters = Regex.Replace(text.Substring(0, Math.Min(text.Length, 200)).ToUpperInvariant(), Separators, "");
            return string.Join("-", Regex.Matches(characters, ".{1,5}").Cast<Match>().Select(match => match.Value));
        }
    }

    static class Hash
    {
        public static string Sha256(string text) { return Sha256(Encoding.UTF8.GetBytes(text)); }
        public static string Sha256(byte[] bytes) { using (var sha = SHA256.Create()) return Hex(sha.ComputeHash(bytes)); }
        public static string Hex(byte[] bytes) { return string.Concat(bytes.Select(b => b.ToString("x2"))); }
        public static byte[] Bytes(string hex)
        {
            return Enumerable.Range(0, hex.Length / 2).Select(i => Convert.ToByte(hex.Substring(2 * i, 2), 16)).ToArray();
        }
    }

    static class Base64
    {
        /// <summary>The bytes of base64 in its one spelling, with padding; null for any other text.</summary>
        public static byte[] Canonical(string text)
        {
            try
            {
                var bytes = Convert.FromBase64String(text);
                return bytes.Length > 0 && Convert.ToBase64String(bytes) == text ? bytes : null;
            }
            catch (FormatException) { return null; }
        }
    }

    static class Machine
    {
        public static string Platform()
        {
            var arm = RuntimeInformation.OSArchitecture == Architecture.Arm64;
            var x64 = RuntimeInformation.OSArchitecture == Architecture.X64;
            if (RuntimeInformation.IsOSPlatform(OSPlatform.Windows)) return x64 ? "win-x64" : "any";
            if (!RuntimeInformation.IsOSPlatform(OSPlatform.Linux)) return "any";
            return x64 ? "linux-x64" : arm ? "linux-arm64" : "any";
        }

        /// <summary>The same as the SDK's.</summary>
        public static string CacheDir(string project)
        {
            Func<string, string> env = Environment.GetEnvironmentVariable;
            var local = Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData);
            var home = Environment.GetFolderPath(Environment.SpecialFolder.UserProfile);
            var isWindows = RuntimeInformation.IsOSPlatform(OSPlatform.Windows);
            var cache = string.IsNullOrEmpty(env("XDG_CACHE_HOME")) ? Path.Combine(home, ".cache") : env("XDG_CACHE_HOME");
            return Path.Combine(isWindows ? local : cache, "aos", project);
        }

        /// <summary>
        /// The id that the JavaScript SDK and the update agent use: SVC_MACHINE_ID as it is, else derived from the system's id, else
        /// from a random text in the cache folder. That one is not stable in a container, nor in the process that created it: no start
        /// has found it yet.
        /// </summary>
        public static string Id(string project, string cacheDir, out bool isStable)
        {
            var configured = (Environment.GetEnvironmentVariable("SVC_MACHINE_ID") ?? "").Trim();
            if (configured.Length > 128 || configured.Any(char.IsControl))
                throw new ArgumentException("SVC_MACHINE_ID must be one line of at most 128 characters");
            isStable = true;
            if (configured != "") return configured;
            var found = SystemId();
            if (found == null)
            {
                bool isNew;
                found = RandomId(cacheDir, out isNew);
                isStable = !isNew && !IsInContainer();
            }
            return Hash.Sha256(project + "\n" + found.Trim().ToLowerInvariant());
        }

        /// <summary>Whether this process runs in a container, whose files are usually new at each start.</summary>
        static bool IsInContainer()
        {
            return Environment.GetEnvironmentVariable("KUBERNETES_SERVICE_HOST") != null
                || !string.IsNullOrEmpty(Environment.GetEnvironmentVariable("container"))
                || File.Exists("/.dockerenv") || File.Exists("/run/.containerenv");
        }

        /// <summary>A move fails where the name exists, so that processes that start together agree.</summary>
        static string RandomId(string folder, out bool isNew)
        {
            var path = Path.Combine(folder, "machine-id");
            var fresh = Guid.NewGuid().ToString();
            var temporary = path + "." + fresh;
            isNew = false;
            try
            {
                var stored = File.Exists(path) ? File.ReadAllText(path).Trim() : "";
                if (stored != "") return stored;
                Directory.CreateDirectory(folder);
                File.WriteAllText(temporary, fresh);
                File.Move(temporary, path);
            }
            catch (IOException) { }
            catch (UnauthorizedAccessException) { }
            try
            {
                File.Delete(temporary);
                var stored = File.ReadAllText(path).Trim();
                isNew = stored == fresh || stored == "";
                return stored == "" ? fresh : stored;
            }
            catch (IOException) { }
            catch (UnauthorizedAccessException) { }
            isNew = true;
            return fresh;
        }

        static string SystemId()
        {
            if (RuntimeInformation.IsOSPlatform(OSPlatform.Windows)) return MachineGuid();
            foreach (var path in new[] { "/etc/machine-id", "/var/lib/dbus/machine-id" })
            {
                try
                {
                    var text = File.ReadAllText(path).Trim();
                    if (Regex.IsMatch(text, @"^[0-9a-f]{32}\z")) return text;
                }
                catch (IOException) { }
                catch (UnauthorizedAccessException) { }
            }
            return null;
        }

        /// <summary>From the 64-bit view of the registry, since a 32-bit program sees another one by default.</summary>
        static string MachineGuid()
        {
            try
            {
                using (var root = RegistryKey.OpenBaseKey(RegistryHive.LocalMachine, RegistryView.Registry64))
                using (var key = root.OpenSubKey(@"SOFTWARE\Microsoft\Cryptography"))
                    return key == null ? null : key.GetValue("MachineGuid") as string;
            }
            catch (IOException) { return null; }
            catch (UnauthorizedAccessException) { return null; }
            catch (System.Security.SecurityException) { return null; }
        }
    }

    /// <summary>A number as it was written: what was signed must not be written another way.</summary>
    public sealed class Number
    {
        public readonly string Text;
        public Number(string text) { Text = text; }
        public double Value { get { return double.Parse(Text, CultureInfo.InvariantCulture); } }
        public override string ToString() { return Text; }
    }

    /// <summary>
    /// JSON as dictionaries, lists, strings, booleans, null and Number. Its own, since no class of the library is there in all of
    /// .NET Framework, Mono and .NET. Members are written in the order of RFC 8785.
    /// </summary>
    public static class Json
    {
        const int Deepest = 100;
        /// <summary>The service takes 64 levels.</summary>
        const int DeepestWritten = 62;

        public static object Member(IDictionary<string, object> body, string name)
        {
            object value;
            return body.TryGetValue(name, out value) ? value : null;
        }

        /// <summary>Null for everything that is no object.</summary>
        public static IDictionary<string, object> ParseObject(string text)
        {
            try
            {
                var at = 0;
                var value = Value(text, ref at, 0);
                Space(text, ref at);
                return at == text.Length ? value as IDictionary<string, object> : null;
            }
            catch (FormatException) { return null; }
            catch (IndexOutOfRangeException) { return null; }
        }

        static object Value(string text, ref int at, int depth)
        {
            if (depth > Deepest) throw new FormatException();
            Space(text, ref at);
            switch (text[at])
            {
                case '{': return Object(text, ref at, depth);
                case '[': return List(text, ref at, depth);
                case '"': return Text(text, ref at);
                case 't': return Word(text, ref at, "true", true);
                case 'f': return Word(text, ref at, "false", false);
                case 'n': return Word(text, ref at, "null", null);
            }
            var match = new Regex(@"\G-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?").Match(text, at);
            if (!match.Success) throw new FormatException();
            at += match.Length;
            return new Number(match.Value);
        }

        static object Object(string text, ref int at, int depth)
        {
            var members = new Dictionary<string, object>();
            for (at++, Space(text, ref at); text[at] != '}';)
            {
                Space(text, ref at);
                var name = Text(text, ref at);
                Space(text, ref at);
                if (text[at++] != ':') throw new FormatException();
                members[name] = Value(text, ref at, depth + 1);
                Next(text, ref at, '}');
            }
            at++;
            return members;
        }

        static object List(string text, ref int at, int depth)
        {
            var items = new List<object>();
            for (at++, Space(text, ref at); text[at] != ']';)
            {
                items.Add(Value(text, ref at, depth + 1));
                Next(text, ref at, ']');
            }
            at++;
            return items;
        }

        static void Next(string text, ref int at, char end)
        {
            Space(text, ref at);
            if (text[at] == end) return;
            if (text[at++] != ',') throw new FormatException();
            Space(text, ref at);
            if (text[at] == end) throw new FormatException();
        }

        static object Word(string text, ref int at, string word, object value)
        {
            if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0) throw new FormatException();
            at += word.Length;
            return value;
        }

        static string Text(string text, ref int at)
        {
            if (text[at++] != '"') throw new FormatException();
            var found = new StringBuilder();
            for (; text[at] != '"'; at++)
            {
                if (text[at] < ' ') throw new FormatException();
                if (text[at] != '\\') { found.Append(text[at]); continue; }
                const string Short = "\"\\/bfnrt";
                var plain = Short.IndexOf(text[++at]);
                if (plain >= 0) found.Append("\"\\/\b\f\n\r\t"[plain]);
                else if (text[at] == 'u' && Regex.IsMatch(text.Substring(at + 1, Math.Min(4, text.Length - at - 1)), "^[0-9a-fA-F]{4}$"))
                {
                    found.Append((char)Convert.ToInt32(text.Substring(at + 1, 4), 16));
                    at += 4;
                }
                else throw new FormatException();
            }
            at++;
            return found.ToString();
        }

        static void Space(string text, ref int at)
        {
            while (at < text.Length && " \t\r\n".IndexOf(text[at]) >= 0) at++;
        }

        public static string Write(object value)
        {
            var text = new StringBuilder();
            Write(text, value, 0);
            return text.ToString();
        }

        static void Write(StringBuilder text, object value, int depth)
        {
            // No report is lost because of what its fields hold: what JSON cannot say is null, or a text.
            if (depth > DeepestWritten) value = null;
            var members = value as System.Collections.IDictionary;
            var items = value as System.Collections.IEnumerable;
            if (value == null) text.Append("null");
            else if (value is string) Quote(text, (string)value);
            else if (value is bool) text.Append((bool)value ? "true" : "false");
            else if (value is Number) text.Append(((Number)value).Text);
            else if (members != null)
                Join(text, '{', '}', members.Keys.Cast<object>().OrderBy(TextOf, StringComparer.Ordinal), name =>
                {
                    Quote(text, TextOf(name));
                    text.Append(':');
                    Write(text, members[name], depth + 1);
                });
            else if (items != null) Join(text, '[', ']', items.Cast<object>(), item => Write(text, item, depth + 1));
            else if (value is double || value is float) Write(text, Convert.ToDouble(value));
            else if (value is IFormattable && value.GetType().IsPrimitive || value is decimal)
                text.Append(((IFormattable)value).ToString(null, CultureInfo.InvariantCulture));
            else if (value is DateTime || value is DateTimeOffset)
                Quote(text, ((IFormattable)value).ToString("o", CultureInfo.InvariantCulture));
            else Quote(text, TextOf(value));
        }

        static string TextOf(object value)
        {
            return Convert.ToString(value, CultureInfo.InvariantCulture) ?? "";
        }

        static void Write(StringBuilder text, double number)
        {
            var isNumber = !double.IsNaN(number) && !double.IsInfinity(number);
            text.Append(isNumber ? number.ToString("R", CultureInfo.InvariantCulture) : "null");
        }

        static void Join<T>(StringBuilder text, char open, char close, IEnumerable<T> items, Action<T> write)
        {
            var separator = open.ToString();
            foreach (var item in items)
            {
                text.Append(separator);
                write(item);
                separator = ",";
            }
            if (separator != ",") text.Append(open);
            text.Append(close);
        }

        static void Quote(StringBuilder text, string value)
        {
            text.Append('"');
            foreach (var c in value)
            {
                var plain = "\"\\\b\f\n\r\t".IndexOf(c);
                if (plain >= 0) text.Append('\\').Append("\"\\bfnrt"[plain]);
                else if (c < ' ') text.Append("\\u").Append(((int)c).ToString("x4"));
                else text.Append(c);
            }
            text.Append('"');
        }
    }
}
