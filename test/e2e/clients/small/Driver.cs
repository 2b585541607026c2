// A test's calls, a line of JSON each time: {"calls": [{client, method, args}]}; their results as a line with a list.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Aos;

static class Driver
{
    static void Main()
    {
        for (var line = Console.In.ReadLine(); line != null; line = Console.In.ReadLine())
        {
            var calls = (List<object>)Json.ParseObject(line)["calls"];
            Console.WriteLine(Json.Write(calls.Select(asked => Result((IDictionary<string, object>)asked)).ToList()));
        }
    }

    static object Result(IDictionary<string, object> asked)
    {
        try { return Call((string)asked["method"], Members(asked, "client"), Members(asked, "args")); }
        catch (ArgumentException error) { return new Dictionary<string, object> { { "raised", error.Message } }; }
    }

    static object Call(string method, IDictionary<string, object> client, IDictionary<string, object> args)
    {
        Func<string, string> text = name => Json.Member(args, name) as string;
        if (method == "verify_license_file")
        {
            var now = DateTimeOffset.Parse(text("now"), CultureInfo.InvariantCulture);
            return Shown(LicenseFiles.Verify(text("text"), text("public_key"), text("product"), text("machine_id"), now));
        }
        Func<string, string> option = name => Json.Member(client, name) as string;
        var given = Json.Member(client, "license_public_key");
        var pems = given is string ? new[] { (string)given } : (given as List<object> ?? new List<object>()).Cast<string>().ToArray();
        var seconds = Json.Member(client, "timeout");
        var timeout = seconds == null ? 10000 : (int)(1000 * double.Parse(Json.Write(seconds), CultureInfo.InvariantCulture));
        var made = new Client(option("server"), option("project"), option("token"), pems, option("machine_id"), timeout, option("cache_dir"));
        var rest = args.Where(pair => !new[] { "source", "status", "error_message", "how" }.Contains(pair.Key))
            .ToDictionary(pair => pair.Key, pair => pair.Value);
        if (text("how") == "odd") rest["context"] = OddContext();
        switch (method)
        {
            case "check_for_update": return Shown(made.CheckForUpdate(text("current_version"), text("channel") ?? "stable"));
            case "validate_license": return Shown(made.ValidateLicense(text("key")));
            case "release_license": return new Dictionary<string, object> { { "released", made.ReleaseLicense(text("lease_id")) } };
            case "hold_seat": return Shown(made.HoldSeat(text("key")).License);
            case "hold_and_release_seat":
                using (var seat = made.HoldSeat(text("key"))) return Shown(seat.License);
            case "load_license_file": return Shown(made.LoadLicenseFile(text("text")));
            case "heartbeat": return Shown(made.Heartbeat(text("source"), text("status") ?? "ok", rest));
            case "report_error": return Shown(made.ReportError(text("error_message"), rest));
            case "capture_exception":
                Func<Exception, IDictionary<string, object>, Sent> capture = made.CaptureException;
                try { throw Thrown(text("how")); }
                catch (Exception error)
                {
                    return Shown(text("how") == "detached" ? capture(error, rest) : made.CaptureException(error, rest));
                }
        }
        throw new ArgumentException("no such method: " + method);
    }

    static object OddContext()
    {
        var context = new Dictionary<object, object>
        {
            { "ratio", double.NaN }, { "id", new Guid("12345678-1234-5678-1234-567812345678") },
            { 1, new object[] { "a", double.PositiveInfinity } },
        };
        context["self"] = new Dictionary<object, object> { { "self", context } };
        return context;
    }

    static Exception Thrown(string how)
    {
        var first = new InvalidOperationException("first member");
        if (how == "group") return new AggregateException("two failed", first, new ArgumentException("second member"));
        return new InvalidOperationException("Expecting a key");
    }

    static IDictionary<string, object> Members(IDictionary<string, object> of, string name)
    {
        return Json.Member(of, name) as IDictionary<string, object> ?? new Dictionary<string, object>();
    }

    /// <summary>As the client for Python names it.</summary>
    static object Shown(object result)
    {
        var shown = result.GetType().GetFields().ToDictionary(field => Snake(field.Name), field => field.GetValue(result));
        var sent = result as Sent;
        if (sent == null) return shown;
        shown["sent"] = sent.Ok;
        foreach (var pair in sent.Answer.Where(pair => pair.Key != "status")) shown[pair.Key] = pair.Value;
        return shown;
    }

    static string Snake(string name)
    {
        return string.Concat(name.Select((c, i) => i > 0 && char.IsUpper(c) ? "_" + char.ToLowerInvariant(c) : char.ToLowerInvariant(c).ToString()));
    }
}
