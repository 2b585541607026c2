import { expect } from 'chai';
import { PinoLogger } from '../../../adapters/node/logger.js';

describe('PinoLogger', () => {
  let lines: string[];
  const create = (level: 'debug' | 'info' | 'error' = 'info'): PinoLogger => {
    lines = [];
    return PinoLogger.create({ level, destination: { write: (line) => void lines.push(line) } });
  };
  const last = (): Record<string, unknown> => JSON.parse(lines.at(-1) ?? 'null') as Record<string, unknown>;

  it('writes one JSON object per line', () => {
    const log = create();
    log.info({ port: 1 }, 'ready\nnow');
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.match(/^\{.*\}\n$/);
    expect(last()).to.include({ level: 30, port: 1, msg: 'ready\nnow' });
    expect(last()['time']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('writes only lines of its level and above', () => {
    const log = create('error');
    log.info({}, 'no');
    log.error({}, 'yes');
    expect(lines).to.have.lengthOf(1);
  });

  it('redacts fields by name, at any depth, including in child loggers', () => {
    const log = create();
    log.child({ plugin: 'x', token: 'abc' }).info(
      {
        headers: { Authorization: 'zzz', cookie: 'c', host: 'h', 'x-license-key': 'l' },
        list: [{ client_secret: 's' }],
        password: 'p',
        shared_key: 'k',
        session_id: 's',
      },
      'in',
    );
    expect(last()).to.deep.include({
      plugin: 'x',
      token: '[redacted]',
      headers: { Authorization: '[redacted]', cookie: '[redacted]', host: 'h', 'x-license-key': '[redacted]' },
      list: [{ client_secret: '[redacted]' }],
      password: '[redacted]',
      shared_key: '[redacted]',
      session_id: '[redacted]',
    });
  });

  it('masks license keys in any position', () => {
    create().info({ path: '/x/ABCDE-FGHJK-LMNPQ-RSTUV-WXYZ2?k=abcde%2Dfghjk%2Dlmnpq%2Drstuv%2Dwxyz3' }, 'm');
    expect(last()['path']).to.equal('/x/*****-*****-*****-*****-WXYZ2?k=*****-*****-*****-*****-wxyz3');
  });

  it('does not redact fields with similar but harmless names', () => {
    create().info({ token_id: 'id', token_kind: 'sub', code: 'not_found', path: '/x', tokens: 3, password: null }, 'm');
    expect(last()).to.include({
      token_id: 'id',
      token_kind: 'sub',
      code: 'not_found',
      path: '/x',
      tokens: 3,
      password: null,
    });
  });

  it('removes credentials from messages, values, errors and their causes', () => {
    const log = create();
    const token = `svc_live_${'A'.repeat(43)}`;
    const error = new Error(`refused ${token}`, { cause: new Error('mongodb://user:pw@db/x') });
    log.error({ err: error, url: 'https://u:p@h/', note: 'Bearer abcdefghij' }, `for wd_live_${'B'.repeat(43)}`);
    expect(lines[0]).to.not.match(/A{8}|B{8}|u:p|user:pw|abcdefghij/);
    expect(last()['msg']).to.equal('for wd_live_[redacted]');
    expect((last()['err'] as { message: string }).message).to.equal('refused svc_live_[redacted]');
    expect((last()['err'] as { cause: { message: string } }).cause.message).to.equal('mongodb://[redacted]@db/x');
  });

  it('redacts credentials split by invisible characters, and preserves such characters elsewhere', () => {
    create().info({}, `with svc_live_\u200b${'A'.repeat(20)}\u00ad${'A'.repeat(23)}`);
    expect(last()['msg']).to.equal('with svc_live_[redacted]');
    create().info({}, 'Fehler\u00admeldung：ok');
    expect(last()['msg']).to.equal('Fehler\u00admeldung：ok');
  });

  it('handles cycles, deep objects, getters, functions, bigints and buffers', () => {
    const circle: Record<string, unknown> = { b: Buffer.alloc(3), n: 10n, f: () => 1, d: new Date(Number.NaN) };
    circle['self'] = circle;
    let deep: object = {};
    for (let i = 0; i < 50; i++) deep = { deep };
    create().info({ circle, deep, text: 'x'.repeat(20_000) }, 'odd');
    expect(last()['circle']).to.deep.equal({ b: '[3 bytes]', n: '10', d: null, self: '[…]' });
    expect((last()['text'] as string).length).to.be.lessThan(9_000);
  });

  const HOSTILE = 'a\u001b[31mb\u009b32mc\u202ed\u2028e\u0008f\rg\u007fh\\u009bi';
  for (const pretty of [true, false])
    it(`escapes characters that control a terminal ${pretty ? 'on a terminal' : 'in JSON lines'}`, () => {
      lines = [];
      const log = PinoLogger.create({ level: 'info', pretty, destination: { write: (line) => void lines.push(line) } });
      log.info({ path: HOSTILE, [HOSTILE]: 1, nested: [{ [HOSTILE]: HOSTILE }], err: new Error(HOSTILE) }, HOSTILE);
      log.child({ client: HOSTILE }).warn({}, 'of a child');
      expect(lines.join('').replaceAll('\n', '')).to.not.match(
        /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/u,
      );
      if (pretty) expect(lines.join('')).to.include('\\u009b32mc\\u202ed\\u2028e');
      else expect(last()).to.include({ client: HOSTILE });
    });

  it('writes human-readable lines on a terminal', () => {
    lines = [];
    PinoLogger.create({ level: 'info', pretty: true, destination: { write: (line) => void lines.push(line) } }).info(
      { a: 1 },
      'hello',
    );
    expect(lines.join('')).to.match(/INFO.*hello/);
  });
});
