/**
 * The envelope's frame (contract 21, Sentry SDK intake): what was put in comes out, and nothing
 * else makes it throw or hang.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseEnvelopeHeader, parseEnvelope, type Envelope } from '../../../plugins/sentry/envelope.js';
import { expectLinear } from '../../support/cpu-time.js';

const read = (text: string | Buffer): Envelope => {
  const envelope = parseEnvelope(Buffer.from(text));
  if (typeof envelope === 'string') throw new Error(envelope);
  return envelope;
};
const items = (text: string): [string, string][] =>
  read(text).items.map(({ type, payload }) => [type, payload.toString('utf8')]);
const fault = (text: string): string => {
  const envelope = parseEnvelope(Buffer.from(text));
  return typeof envelope === 'string' ? envelope : (envelope.fault ?? 'no fault');
};

/** JSON without line ends, and bytes of any kind. */
const jsonPayload = fc.json().map((text) => Buffer.from(text));
const binary = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
const type = fc.constantFrom('event', 'session', 'transaction', 'attachment', 'client_report', 'made_up');
const part = fc.oneof(
  fc.record({ type, payload: binary, length: fc.constant(true) }),
  fc.record({ type, payload: jsonPayload, length: fc.boolean() }),
);

describe('sentry envelope', () => {
  it('parses items with and without length, with LF or CRLF, and with or without a final newline', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'), fc.boolean(), (parts, eol, ends) => {
        const chunks = [Buffer.from(`{"event_id":"x"}`)];
        for (const { type: name, payload, length } of parts) {
          const head = { type: name, ...(length ? { length: payload.length } : {}) };
          chunks.push(Buffer.from(`${eol}${JSON.stringify(head)}${eol}`), payload);
        }
        if (ends) chunks.push(Buffer.from(eol));
        const found = read(Buffer.concat(chunks));
        expect(found.header).to.deep.equal({ event_id: 'x' });
        expect(found.items.map((item) => item.type)).to.deep.equal(parts.map((one) => one.type));
        found.items.forEach(({ payload }, i) => {
          // Without a length the CR of a CRLF belongs to the payload, where JSON does not mind it.
          const bare =
            parts[i]?.length === false ? payload.toString('latin1').replace(/\r$/, '') : payload.toString('latin1');
          expect(bare).to.equal(parts[i]?.payload.toString('latin1'));
        });
      }),
    );
  });

  it('returns an envelope or an error message for any bytes', () => {
    const line = fc.oneof(
      fc.json(),
      fc.constant('{"type":"event"}'),
      fc.constant('{"type":"event","length":3}'),
      fc.string(),
    );
    const anything = fc.oneof(
      binary,
      fc.array(line).map((lines) => Buffer.from(lines.join('\n'))),
    );
    fc.assert(
      fc.property(anything, (bytes) => {
        const found = parseEnvelope(bytes);
        if (typeof found === 'string') expect(found).to.match(/^The .*\.$/);
        else expect(found.items.reduce((sum, { payload }) => sum + payload.length, 0)).to.be.at.most(bytes.length);
      }),
      { numRuns: 500 },
    );
  });

  it('accepts empty payloads, with and without a length', () => {
    expect(items('{}\n{"type":"a","length":0}\n\n{"type":"b"}\n\n{"type":"c","length":0}\n{"type":"d"}')).to.deep.equal(
      [
        ['a', ''],
        ['b', ''],
        ['c', ''],
        ['d', ''],
      ],
    );
  });

  it('accepts an envelope header without items, and blank lines between items', () => {
    expect(items('{"sent_at":"2026-11-20T08:15:30Z"}')).to.deep.equal([]);
    expect(items('{}\n\n\n{"type":"a"}\n1\n\r\n\n{"type":"b","length":1}\n2\n\n')).to.deep.equal([
      ['a', '1'],
      ['b', '2'],
    ]);
  });

  it('ignores line breaks inside a payload with a length', () => {
    const payload = '{"type":"event"}\n{"a":1}\n';
    expect(
      items(`{}\n{"type":"attachment","length":${payload.length}}\n${payload}\n{"type":"event"}\n{}`),
    ).to.deep.equal([
      ['attachment', payload],
      ['event', '{}'],
    ]);
  });

  it('returns payloads as views of the body', () => {
    const bytes = Buffer.from('{}\n{"type":"event"}\n{"a":1}\n');
    const [item] = (parseEnvelope(bytes) as Envelope).items;
    expect(item?.payload.buffer).to.equal(bytes.buffer);
  });

  const faults: [name: string, body: string, sentence: RegExp][] = [
    ['an empty body', '', /first line/],
    ['a header that is no JSON', 'hello\n{"type":"event"}\n{}', /first line/],
    ['a header that is a list', '[]\n', /first line/],
    ['a header that is too long', `{"a":"${'x'.repeat(20_000)}"}\n`, /first line/],
    ['an item header that is no JSON', '{}\n{"type":\n{}', /item 1/],
    ['an item without a type', '{}\n{"length":2}\n{}', /item 1/],
    ['a type that is no text', '{}\n{"type":7}\n{}', /item 1/],
    ['a length beyond the end', '{}\n{"type":"event","length":3}\n{}', /`length` of item 1/],
    ['a length before the end', '{}\n{"type":"a"}\n1\n{"type":"event","length":1}\n{}', /`length` of item 2/],
    ['a negative length', '{}\n{"type":"event","length":-1}\n{}', /`length`/],
    ['a length that is no whole number', '{}\n{"type":"event","length":1.5}\n{}', /`length`/],
    ['a length that is text', '{}\n{"type":"event","length":"2"}\n{}', /`length`/],
    ['more items than any SDK sends', `{}\n${'{"type":"a"}\n\n'.repeat(1001)}`, /more than 1000/],
  ];
  for (const [name, body, sentence] of faults) {
    it(`rejects ${name}`, () => expect(fault(body)).to.match(sentence));
  }

  it('parses the header separately', () => {
    expect(parseEnvelopeHeader(Buffer.from('{"dsn":"x"}\nno envelope at all'))).to.deep.equal({ dsn: 'x' });
    expect(parseEnvelopeHeader(Buffer.from('nothing'))).to.equal(null);
  });

  it('parses a body of one megabyte in linear time', () => {
    const bodies = [
      Buffer.from(`{}\n${'\n'.repeat(1_000_000)}`),
      Buffer.from(`{}\n{"type":"a"}\n${'x'.repeat(1_000_000)}`),
      Buffer.from(`{}\n${'{"type":"a"}\n\n'.repeat(70_000)}`),
      Buffer.from('{'.repeat(1_000_000)),
    ];
    for (const body of bodies) expectLinear(() => parseEnvelope(body), body.toString('utf8', 0, 20));
  });
});
