/**
 * TestCertificates of real TLS and HTTPS servers: with days left, over, of another host, of nobody
 * (contract 30, probes).
 */
import https from 'node:https';
import net, { type AddressInfo, type Socket } from 'node:net';
import tls from 'node:tls';
import { expect } from 'chai';
import { SMTPServer } from 'smtp-server';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { DAY_MS } from '../../../../lib/time.js';
import { validateProbe } from '../../../../plugins/probes/model/probe-schema.js';
import { toObservation, type ProbeResult } from '../../../../plugins/probes/model/probe-result.js';
import { certificates, type TestCertificates, type KeyAndCertificate } from './certificates.js';
import { probesOn, type ProbeFixture } from '../../../plugins/probes/fixture.js';
import { isAvailable } from '../../../support/requirements.js';

describe('probes: TLS certificates (with openssl)', function () {
  const servers: tls.Server[] = [];
  const sockets = new Set<Socket>();
  let made: TestCertificates;
  let fixture: ProbeFixture;
  /** Before any of them was made. */
  let began = 0;

  before(async function () {
    began = Date.now() - 1_000;
    const found = await certificates();
    if (!isAvailable('tls', found !== null) || found === null) this.skip();
    else made = found;
    fixture = probesOn(new MemoryStore(), { ca: made.ca });
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });

  async function listen(server: tls.Server): Promise<number> {
    servers.push(server);
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
    });
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
  const plain = (shown: KeyAndCertificate): Promise<number> =>
    listen(tls.createServer(shown, (socket) => socket.on('error', () => socket.destroy()).end()));
  const web = (shown: KeyAndCertificate, close = false): Promise<number> =>
    listen(
      https.createServer(shown, (_request, response) => {
        if (close) response.setHeader('connection', 'close');
        response.end('ok');
      }),
    );
  const handshake = async (shown: KeyAndCertificate, host = 'localhost'): Promise<ProbeResult> =>
    fixture.asker.run(validateProbe({ kind: 'tls', host, port: await plain(shown) }));
  const fetched = (port: number): Promise<ProbeResult> =>
    fixture.asker.run(validateProbe({ kind: 'http', url: `https://localhost:${port}/` }));

  it('accept a certificate with five days left, and fail a separate check of the remaining days', async () => {
    const port = await web(made.soon);
    for (const seen of [await handshake(made.soon), await handshake(made.soon, '127.0.0.1'), await fetched(port)]) {
      expect(seen, seen.message).to.deep.include({ ok: true });
      expect(seen.certificate).to.include({ subject: 'soon', issuer: 'Probes of the tests' });
      const probe = validateProbe({ kind: 'tls', host: 'localhost' });
      const reported = toObservation('a', probe, seen, 0, began);
      expect(reported.status).to.equal('ok');
      expect(reported.metrics['cert_days']).to.equal(5);
      expect(reported.checks['certificate']).to.deep.equal({ ok: false, message: 'Certificate expires in 5 days' });
      const patient = validateProbe({ kind: 'tls', host: 'localhost', cert_days_warning: 5 });
      expect(toObservation('a', patient, seen, 0, began).checks['certificate']).to.include({ ok: true });
    }
  });

  it('read the certificate on a reused connection, and on a new connection to the same server', async () => {
    for (const close of [false, true]) {
      const port = await web(made.soon, close);
      for (let turn = 0; turn < 3; turn++) {
        const { certificate, message } = await fetched(port);
        expect(certificate, `close ${close}, turn ${turn}: ${message}`).to.include({ subject: 'soon' });
      }
    }
  });

  it('read a replaced certificate at the next probe, even if the server resumes old sessions', async () => {
    const server = https.createServer(made.soon, (_request, response) => {
      response.setHeader('connection', 'close').end('ok');
    });
    const port = await listen(server);
    expect(await fetched(port)).to.include({ ok: true });
    const keys = server.getTicketKeys();
    server.setSecureContext(made.expired);
    server.setTicketKeys(keys);
    expect(await fetched(port)).to.include({ ok: false, message: 'The certificate has expired (CERT_HAS_EXPIRED)' });
  });

  it('fail for an expired certificate, with the days since its expiry', async () => {
    const seen = await handshake(made.expired);
    expect(seen).to.include({ ok: false, message: 'The certificate has expired (CERT_HAS_EXPIRED)' });
    const reported = toObservation(
      'a',
      validateProbe({ kind: 'tls', host: 'localhost', retries: 0 }),
      seen,
      1,
      began + 2 * DAY_MS,
    );
    expect(reported).to.include({ status: 'error', message: 'The certificate has expired (CERT_HAS_EXPIRED)' });
    expect(reported.checks['certificate']).to.deep.equal({ ok: false, message: 'Certificate expired 2 days ago' });
    expect(await fetched(await web(made.expired))).to.include({
      ok: false,
      message: 'The certificate has expired (CERT_HAS_EXPIRED)',
    });
  });

  it('fail for a certificate of another host', async () => {
    const message = 'The certificate is for another host (ERR_TLS_CERT_ALTNAME_INVALID)';
    for (const host of ['localhost', '127.0.0.1']) {
      const seen = await handshake(made.other, host);
      expect(seen, host).to.include({ ok: false, message });
      expect(seen.certificate).to.include({ subject: 'other' });
    }
    expect(await fetched(await web(made.other))).to.include({ ok: false, message });
  });

  it('fail for a self-signed certificate, and for a certificate of an unknown authority', async () => {
    const message = 'The certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)';
    expect(await handshake(made.selfSigned)).to.include({ ok: false, message });
    expect(await fetched(await web(made.selfSigned))).to.include({ ok: false, message });
    const stranger = probesOn(new MemoryStore());
    const port = await plain(made.soon);
    const seen = await stranger.asker.run(validateProbe({ kind: 'tls', host: 'localhost', port }));
    expect(seen.ok).to.equal(false);
    expect(seen.message).to.match(/^The certificate is from an unknown authority/);
    expect(seen.certificate).to.include({ subject: 'soon' });
  });

  it('trust a custom authority only for its own probe, and any certificate where configured', async () => {
    const stranger = probesOn(new MemoryStore()).asker;
    const port = await web(made.soon);
    const expired = await web(made.expired);
    const url = `https://localhost:${port}/`;
    const tlsPort = await plain(made.soon);
    const sees = (more: object): Promise<ProbeResult> => stranger.run(validateProbe({ timeout_ms: 30_000, ...more }));
    for (const probe of [
      { kind: 'http', url },
      { kind: 'tls', host: 'localhost', port: tlsPort },
      { kind: 'websocket', url: `wss://localhost:${port}/` },
    ]) {
      expect((await sees(probe)).message, probe.kind).to.match(/from an unknown authority/);
      const trusted = await sees({ ...probe, ca_pem: made.ca });
      const insecure = await sees({ ...probe, insecure: true });
      if (probe.kind === 'websocket') {
        for (const seen of [trusted, insecure]) expect(seen.message).to.equal('HTTP 200 instead of a WebSocket');
      } else for (const seen of [trusted, insecure]) expect(seen, seen.message).to.include({ ok: true });
    }
    const late = { kind: 'http', url: `https://localhost:${expired}/`, ca_pem: made.ca };
    expect((await sees(late)).ok).to.equal(false);
    const probe = validateProbe({ ...late, insecure: true });
    const seen = await stranger.run(probe);
    expect(seen, seen.message).to.include({ ok: true });
    expect(toObservation('a', probe, seen, 0, began + 2 * DAY_MS).checks).to.not.have.property('certificate');
    expect((await fetched(port)).ok, 'others trust what they did').to.equal(true);
    expect((await sees({ kind: 'http', url })).ok, 'nothing is kept of it').to.equal(false);
  });

  it('send the Host name in SNI without a trailing dot (W25, W40)', async () => {
    const names: unknown[] = [];
    const server = https.createServer(made.other, (request, response) => {
      names.push((request.socket as tls.TLSSocket).servername);
      response.end();
    });
    const port = await listen(server);
    const here = async (): Promise<{ address: string; family: number }[]> => [{ address: '127.0.0.1', family: 4 }];
    const { asker } = probesOn(new MemoryStore(), { ca: made.ca, resolve: here });
    const named = {
      ...validateProbe({ kind: 'http', url: `https://127.0.0.1:${port}/` }),
      headers: { host: 'shop.test' },
    };
    const dotted = validateProbe({ kind: 'http', url: `https://shop.test.:${port}/` });
    for (const probe of [named, dotted]) {
      const seen = await asker.run(probe);
      expect(seen, seen.message).to.include({ ok: true });
    }
    expect(names).to.deep.equal(['shop.test', 'shop.test']);
    const tlsPort = await plain(made.other);
    expect(await asker.run(validateProbe({ kind: 'tls', host: 'shop.test.', port: tlsPort }))).to.include({ ok: true });
  });

  describe('with STARTTLS', () => {
    /** Speaks line by line until TLS begins. */
    const talking = async (greeting: string, ready: RegExp, replies: (line: string) => string): Promise<number> => {
      const context = tls.createSecureContext(made.soon);
      const server = net.createServer((socket) => {
        socket.write(greeting);
        socket.on('data', function take(chunk: Buffer) {
          const line = chunk.toString('latin1');
          const go = ready.test(line);
          if (go) socket.off('data', take);
          socket.write(Buffer.from(replies(line), 'latin1'));
          if (go)
            new tls.TLSSocket(socket, { isServer: true, secureContext: context }).on('error', () => socket.destroy());
        });
      });
      return listen(server as tls.Server);
    };
    const mail = async (secure: boolean): Promise<number> => {
      const server = new SMTPServer({ ...made.soon, ...(!secure && { disabledCommands: ['STARTTLS'] }) });
      server.on('error', () => undefined);
      return listen(server.server as tls.Server);
    };
    const sees = (starttls: string, port: number): Promise<ProbeResult> =>
      fixture.asker.run(validateProbe({ kind: 'tls', host: 'localhost', port, starttls, timeout_ms: 30_000 }));

    it('read the certificate of a mail server, and report a server without TLS', async () => {
      const seen = await sees('smtp', await mail(true));
      expect(seen, seen.message).to.include({ ok: true });
      expect(seen.certificate).to.include({ subject: 'soon' });
      const without = await sees('smtp', await mail(false));
      expect(without.ok).to.equal(false);
      expect(without.message).to.match(/^The server does not accept STARTTLS/);
    });

    for (const [starttls, greeting, ready, replies] of [
      ['imap', '* OK ready\r\n', /STARTTLS/, () => '* CAPABILITY IMAP4rev1\r\na1 OK begin\r\n'],
      ['pop3', '+OK ready\r\n', /STLS/, () => '+OK begin\r\n'],
      ['ldap', '', /1\.3\.6\.1\.4\.1\.1466\.20037/, () => '\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x00\x04\x00\x04\x00'],
    ] as const)
      it(`read the certificate of ${starttls}`, async () => {
        const seen = await sees(starttls, await talking(greeting, ready, replies));
        expect(seen, seen.message).to.include({ ok: true });
        expect(seen.certificate).to.include({ subject: 'soon' });
      });

    for (const [starttls, greeting, replies] of [
      ['imap', '* OK ready\r\n', () => 'a1 BAD no\r\n'],
      ['pop3', '+OK ready\r\n', () => '-ERR no\r\n'],
      ['ldap', '', () => '\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\x34\x04\x00\x04\x00'],
      ['imap', '* BYE\r\n', () => ''],
      ['smtp', '554 no\r\n', () => ''],
    ] as const)
      it(`report a rejection by ${starttls} (${JSON.stringify(greeting)})`, async () => {
        const seen = await sees(starttls, await talking(greeting, /never/, replies));
        expect(seen.message).to.match(/^The server does not accept STARTTLS/);
      });

    it('ignore data sent before the handshake', async () => {
      const port = await talking('+OK ready\r\n', /never/, () => '+OK begin\r\n+OK injected\r\n');
      expect((await sees('pop3', port)).message).to.equal('The server sent unexpected data before TLS');
    });
  });
});
