/** TestCertificates of real TLS and HTTPS servers: with days left, over, of another host, of nobody (contract 30, probes). */
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import tls from 'node:tls';
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { DAY_MS } from '../../../../lib/time.js';
import { probeOf } from '../../../../plugins/probes/model/schema.js';
import { observationOf, type ProbeResult } from '../../../../plugins/probes/model/seen.js';
import { certificates, type TestCertificates, type KeyAndCertificate } from './certificates.js';
import { probesOn, type ProbeFixture } from '../../../plugins/probes/fixture.js';
import { isAvailable } from '../../../support/required.js';

describe('probes of certificates (with openssl)', function () {
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
    fixture.asker.ask(probeOf({ kind: 'tls', host, port: await plain(shown) }));
  const fetched = (port: number): Promise<ProbeResult> =>
    fixture.asker.ask(probeOf({ kind: 'http', url: `https://localhost:${port}/` }));

  it('five days left are fine for the connection, and a check of their own that has failed', async () => {
    const port = await web(made.soon);
    for (const seen of [await handshake(made.soon), await handshake(made.soon, '127.0.0.1'), await fetched(port)]) {
      expect(seen, seen.message).to.deep.include({ ok: true });
      expect(seen.certificate).to.include({ subject: 'soon', issuer: 'Probes of the tests' });
      const probe = probeOf({ kind: 'tls', host: 'localhost' });
      const told = observationOf('a', probe, seen, 0, began);
      expect(told.status).to.equal('ok');
      expect(told.metrics['cert_days']).to.equal(5);
      expect(told.checks['certificate']).to.deep.equal({ ok: false, message: 'The certificate expires in 5 days' });
      const patient = probeOf({ kind: 'tls', host: 'localhost', cert_days_warning: 5 });
      expect(observationOf('a', patient, seen, 0, began).checks['certificate']).to.include({ ok: true });
    }
  });

  it('the certificate is seen on a kept connection, and on a new one to the same server', async () => {
    for (const close of [false, true]) {
      const port = await web(made.soon, close);
      for (let turn = 0; turn < 3; turn++) {
        const { certificate, message } = await fetched(port);
        expect(certificate, `close ${close}, turn ${turn}: ${message}`).to.include({ subject: 'soon' });
      }
    }
  });

  it('a certificate that is replaced is seen at the next asking, though the server takes old sessions', async () => {
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

  it('one that is over is down, and the days since are told', async () => {
    const seen = await handshake(made.expired);
    expect(seen).to.include({ ok: false, message: 'The certificate has expired (CERT_HAS_EXPIRED)' });
    const told = observationOf(
      'a',
      probeOf({ kind: 'tls', host: 'localhost', retries: 0 }),
      seen,
      1,
      began + 2 * DAY_MS,
    );
    expect(told).to.include({ status: 'error', message: 'The certificate has expired (CERT_HAS_EXPIRED)' });
    expect(told.checks['certificate']).to.deep.equal({ ok: false, message: 'The certificate expired 2 days ago' });
    expect(await fetched(await web(made.expired))).to.include({
      ok: false,
      message: 'The certificate has expired (CERT_HAS_EXPIRED)',
    });
  });

  it('one of another host is down', async () => {
    const message = 'The certificate is for another host (ERR_TLS_CERT_ALTNAME_INVALID)';
    for (const host of ['localhost', '127.0.0.1']) {
      const seen = await handshake(made.other, host);
      expect(seen, host).to.include({ ok: false, message });
      expect(seen.certificate).to.include({ subject: 'other' });
    }
    expect(await fetched(await web(made.other))).to.include({ ok: false, message });
  });

  it('one that is signed by itself is down, and so is one of an authority that nobody knows', async () => {
    const message = 'The certificate is signed by itself and by nobody else (DEPTH_ZERO_SELF_SIGNED_CERT)';
    expect(await handshake(made.selfSigned)).to.include({ ok: false, message });
    expect(await fetched(await web(made.selfSigned))).to.include({ ok: false, message });
    const stranger = probesOn(new MemoryStore());
    const port = await plain(made.soon);
    const seen = await stranger.asker.ask(probeOf({ kind: 'tls', host: 'localhost', port }));
    expect(seen.ok).to.equal(false);
    expect(seen.message).to.match(/^The certificate is of an authority that this machine does not know/);
    expect(seen.certificate).to.include({ subject: 'soon' });
  });
});
