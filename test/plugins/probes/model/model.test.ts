/** Probes as callers give them, what answers mean, and when which is due. Pure. */
import { expect } from 'chai';
import fc from 'fast-check';
import { ServiceError } from '../../../../kernel/errors.js';
import { isJsonPath, getValueAt } from '../../../../plugins/probes/model/json-path.js';
import { parseProbe, validateProbe, findUnknownFields } from '../../../../plugins/probes/model/probe-schema.js';
import { formatExpiry, EMPTY_RESULT, toObservation } from '../../../../plugins/probes/model/probe-result.js';
import { isInStatusRange, isStatusRange } from '../../../../plugins/probes/model/status-range.js';
import { getNextTime, ProbeTimetable } from '../../../../plugins/probes/model/probe-timetable.js';

function faults(given: unknown): Record<string, string> {
  try {
    validateProbe(given);
    return {};
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.code).to.equal('validation_failed');
    return error.fields ?? {};
  }
}

describe('probes (pure)', () => {
  it('applies defaults and drops fields of other kinds', () => {
    expect(validateProbe({ kind: 'http', url: 'https://a.test/', host: 'x', port: 1 })).to.deep.equal({
      kind: 'http',
      url: 'https://a.test/',
      method: 'GET',
      body: null,
      expected_status: '200-299',
      contains: null,
      keyword_absent: null,
      json_path: null,
      json_value: null,
      redirects: 0,
      ca_pem: null,
      insecure: false,
      cert_days_warning: 14,
      interval_seconds: 60,
      timeout_ms: 10_000,
      retries: 1,
      inverted: false,
      resolver: null,
    });
    expect(validateProbe({ kind: 'tls', host: 'a.test' })).to.include({ port: 443, cert_days_warning: 14 });
    expect(validateProbe({ kind: 'tls', host: 'a.test', starttls: 'imap' })).to.include({ port: 143 });
    for (const [kind, port] of Object.entries({
      postgresql: 5432,
      mysql: 3306,
      redis: 6379,
      mongodb: 27_017,
      grpc: 443,
    }))
      expect(validateProbe({ kind, host: 'a.test' }), kind).to.include({ port, tls: false });
  });

  it('reports only fields that do not belong to its kind', () => {
    const no = (name: string): string => `probe.${name} is no field of this call`;
    expect(findUnknownFields({ kind: 'tcp', host: 'a', port: 1, url: 'http://a/', hots: 'b' })).to.deep.equal([
      no('url'),
      no('hots'),
    ]);
    expect(findUnknownFields({ kind: 'http', url: 'http://a/', headers: { Any: 'thing' }, retries: 2 })).to.deep.equal(
      [],
    );
    for (const none of [null, undefined, {}, { kind: 'gopher', hole: 1 }])
      expect(findUnknownFields(none)).to.deep.equal([]);
  });

  it('reports errors below `probe`', () => {
    expect(faults(null)).to.have.keys('probe.kind');
    expect(faults({ kind: 'ftp' })).to.have.keys('probe.kind');
    expect(faults({ kind: 'http' })).to.deep.equal({ 'probe.url': 'is required' });
    expect(
      faults({ kind: 'tcp', host: 'a b', port: 0, interval_seconds: 19, timeout_ms: 30_001, retries: 11 }),
    ).to.have.keys('probe.host', 'probe.port', 'probe.interval_seconds', 'probe.timeout_ms', 'probe.retries');
    const headers = { 'X-A': 'a\r\nX-B: b' };
    expect(faults({ kind: 'http', url: 'http://a.test', headers })).to.have.keys('probe.headers.X-A');
    for (const name of ['bad name', 'a:b', '', 'ä'])
      expect(faults({ kind: 'http', url: 'http://a.test', headers: { [name]: 'x' } }), name).to.have.keys(
        'probe.headers',
      );
    const http = { kind: 'http', url: 'http://a.test' };
    expect(faults({ ...http, json_value: 'x' })).to.have.keys('probe.json_value');
    for (const name of ['Content-Length', 'connection', 'TE'])
      expect(faults({ ...http, headers: { [name]: '1' } }), name).to.have.keys('probe.headers');
    for (const resolver of ['ns.example.org', '10.0.0.1:', '10.0.0', '10.0.0.1:53:1', 'https://1.1.1.1'])
      expect(faults({ ...http, resolver }), resolver).to.have.keys('probe.resolver');
  });

  it('rejects text checks for HEAD requests (W29)', () => {
    const head = { kind: 'http', url: 'http://a.test', method: 'HEAD' };
    for (const more of [{ contains: 'x' }, { keyword_absent: 'x' }, { json_path: '$.a' }, { body: 'x' }])
      expect(faults({ ...head, ...more })).to.have.keys(`probe.${Object.keys(more)[0]}`);
  });

  it('accepts a DNS server with a port from 1 to 65535', () => {
    const withResolver = (resolver: string): object => validateProbe({ kind: 'icmp', host: 'a.test', resolver });
    for (const resolver of ['10.0.0.53', '10.0.0.53:1', '10.0.0.53:65535', 'fd00::53', '[fd00::53]', '[fd00::53]:53'])
      expect(withResolver(resolver)).to.include({ resolver });
    for (const resolver of ['10.0.0.53:0', '10.0.0.53:65536', '[fd00::53]:99999'])
      expect(() => withResolver(resolver), resolver)
        .to.throw(ServiceError)
        .with.nested.property('fields')
        .that.deep.equals({ 'probe.resolver': 'must have a port from 1 to 65535' });
  });

  it('adds missing fields to a probe of an earlier version', () => {
    const old = { kind: 'http', url: 'http://a.test', method: 'HEAD', contains: 'x', retries: 3 } as never;
    expect(parseProbe(old)).to.include({ resolver: null, keyword_absent: null, contains: 'x', retries: 3 });
  });

  it('parses status codes and ranges', () => {
    for (const good of ['200', '200-299', '200-299, 401', '101,599']) expect(isStatusRange(good), good).to.equal(true);
    for (const bad of ['', '20', '299-200', '600', '200-', 'a', '200;201'])
      expect(isStatusRange(bad), bad).to.equal(false);
    expect([200, 299, 401].every((status) => isInStatusRange(status, '200-299,401'))).to.equal(true);
    expect([199, 300, 402].some((status) => isInStatusRange(status, '200-299,401'))).to.equal(false);
  });

  it('reads a JSON value by path, through own properties only (W29)', () => {
    const json = { a: [{ b: 'c' }], constructor: undefined, n: null };
    expect(getValueAt(json, 'a[0].b')).to.equal('c');
    expect(getValueAt([1, 2], '[1]')).to.equal(2);
    expect(getValueAt(json, 'n')).to.equal(null);
    for (const path of ['$.a[0].b', "$['a'][0]['b']", '$["a"][0].b', "['a'][0].b"])
      expect(getValueAt(json, path), path).to.equal('c');
    expect(getValueAt([1, 2], '$[1]')).to.equal(2);
    expect(getValueAt(json, '$')).to.equal(json);
    expect(getValueAt({ $id: 1, 'x.y': { z: 2 } }, '$id')).to.equal(1);
    expect(getValueAt({ $id: 1, 'x.y': { z: 2 } }, "$['x.y'].z")).to.equal(2);
    for (const none of ['a[1].b', 'a[0].b.length', 'toString', '__proto__.x', 'n.x']) {
      expect(getValueAt(json, none), none).to.equal(undefined);
    }
    const WRONG = [
      '',
      '.',
      '$.',
      '.a',
      'a..b',
      'a[',
      'a[x]',
      'a b',
      '[0]a',
      '$..b',
      '$.*',
      'a[*]',
      '$.a.length()',
      "$['a",
    ];
    for (const bad of [...WRONG, '$[?(@.b)]']) expect(isJsonPath(bad), bad).to.equal(false);
    fc.assert(
      fc.property(fc.json(), fc.string(), (text, path) => {
        if (isJsonPath(path)) getValueAt(JSON.parse(text), path);
      }),
    );
  });

  it('reports a warning until retries are used up, and a failed check for an expiring certificate', () => {
    const probe = validateProbe({ kind: 'http', url: 'https://a.test/', retries: 1, interval_seconds: 30 });
    const now = Date.parse('2026-11-24T00:00:00Z');
    const bad = { ...EMPTY_RESULT, ok: false, message: 'HTTP 500' };
    const first = toObservation('a', probe, bad, 1, now);
    expect(first).to.include({ status: 'warning', message: 'HTTP 500 (try 1 of 2)', interval: 30 });
    expect(toObservation('a', probe, bad, 2, now)).to.include({ status: 'error', message: 'HTTP 500' });
    const certificate = { subject: 'a.test', issuer: 'ca', valid_until: '2026-11-30T12:00:00.000Z' };
    const fine = toObservation(
      'a',
      probe,
      { ...EMPTY_RESULT, ok: true, message: 'HTTP 200', response_ms: 5, certificate },
      0,
      now,
    );
    expect(fine.status).to.equal('ok');
    expect(fine.metrics).to.deep.equal({ response_ms: 5, cert_days: 6 });
    expect(fine.checks['certificate']).to.deep.equal({ ok: false, message: 'Certificate expires in 6 days' });
    expect([formatExpiry(-3), formatExpiry(-2), formatExpiry(-1), formatExpiry(0), formatExpiry(1)]).to.deep.equal([
      'expired 2 days ago',
      'expired a day ago',
      'expired less than a day ago',
      'expires within a day',
      'expires in a day',
    ]);
  });

  it('distributes two thousand probes evenly over a minute, each once a minute', () => {
    const table = new ProbeTimetable(0);
    const names = Array.from({ length: 2_000 }, (_, i) => `shop/web-${i}`);
    for (const name of names) table.schedule(name, getNextTime(name, 60_000, 0));
    const counts = new Map<string, number>();
    let most = 0;
    for (let now = 1_000; now <= 600_000; now += 1_000) {
      const due = table.takeDue(now);
      most = Math.max(most, due.length);
      for (const name of due) {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        table.schedule(name, getNextTime(name, 60_000, now));
      }
    }
    expect(most).to.be.lessThan(80);
    for (const name of names) expect(counts.get(name), name).to.be.within(9, 10);
    expect(table.size).to.equal(2_000);
  });

  it('is due only once after a long pause', () => {
    const table = new ProbeTimetable(0);
    table.schedule('a', 100);
    table.schedule('b', 50_000_000);
    expect(table.takeDue(100_000_000)).to.deep.equal(['a', 'b']);
    expect(table.takeDue(100_000_001)).to.deep.equal([]);
  });
});
