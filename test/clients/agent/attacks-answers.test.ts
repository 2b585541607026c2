/**
 * A malicious mirror, field by field: each member of the answers of pubkey, check and freshness is
 * missing, of another type or false; and a mirror that prevents updates. Nothing of it is
 * installed, and the tree stays as it was.
 */
import { expect } from 'chai';
import { join } from 'node:path';
import { createKeys, ReleaseServer, sha256, sign, type SourceFile } from '../../support/release-server.js';
import { install, remove, runHere, scratch, treeOf, type Ran } from './agent.js';

const [keys, others] = [createKeys(), createKeys()];
const files = (n: number): SourceFile[] => [{ path: 'app.txt', content: `version ${n}` }];
type Body = Record<string, unknown> & { release: Record<string, unknown> | null };
type Statement = Record<string, unknown> & { latest: Record<string, unknown> };
const without = (body: Record<string, unknown>, field: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([name]) => name !== field));

describe('update-agent: attacks on each response', function () {
  let server: ReleaseServer;
  let dir: string;
  const go = (...args: string[]): Promise<Ran> =>
    runHere(['--server', server.url, '--dir', dir, '--platform', 'linux-x64', ...args]);

  async function rejected(code: number, message: RegExp, ...args: string[]): Promise<void> {
    const before = await treeOf(dir);
    const ran = await go(...args);
    expect(ran.code, ran.stdout + ran.stderr).to.equal(code);
    expect(ran.stdout + ran.stderr).to.match(message);
    expect(await treeOf(dir)).to.deep.equal(before);
  }

  beforeEach(async () => {
    server = new ReleaseServer(keys);
    await server.start();
    dir = await scratch();
    await install(dir, server.publish({ version: '1.0.0', files: files(1) }));
    server.publish({ version: '1.1.0', files: files(2) });
  });
  afterEach(async () => {
    await server.stop();
    await remove(dir);
  });

  describe('check response', () => {
    for (const field of ['update_available', 'release'])
      it(`rejects a check response without ${field}`, async () => {
        server.lies.check = (body) => without(body, field);
        await rejected(3, /response: update_available/);
      });

    const needed = ['version', 'channel', 'platform', 'package_url', 'package_size', 'package_sha256', 'manifest_json'];
    for (const field of needed)
      it(`rejects a check response without release.${field}`, async () => {
        server.lies.check = (body: Body) => ({ ...body, release: without(body.release ?? {}, field) });
        await rejected(3, new RegExp(`response: release\\.${field}`));
      });

    it('rejects a check response without release.manifest_signature and signed', async () => {
      server.lies.check = (body: Body) => ({
        ...without(body, 'signed'),
        release: without(body.release ?? {}, 'manifest_signature'),
      });
      await rejected(3, /not signed, and a key is pinned/);
    });

    /**
     * What only a person reads, or what decides nothing, changes nothing: the release is the one
     * that was signed.
     */
    const idle: [string, unknown][] = [
      ['mandatory', 'yes'],
      ['release_notes', 7],
      ['release_notes', `x\u001b[2J${'y'.repeat(5000)}`],
      ['key_id', 'x'],
      ['published_at', 7],
    ];
    for (const [field, value] of idle)
      it(`installs the signed release when release.${field} is ${JSON.stringify(value).slice(0, 20)}`, async () => {
        server.lies.check = (body: Body) => ({ ...body, release: { ...body.release, [field]: value } });
        expect(await go('--require-signed')).to.include({ code: 0, stdout: 'UPDATED: 1.0.0 -> 1.1.0\n' });
      });

    it('warns without failing when current_withdrawn is true', async () => {
      server.lies.check = (body) => ({ ...body, current_withdrawn: true });
      expect((await go()).stdout).to.equal('WARNING: the installed 1.0.0 was withdrawn\nUPDATED: 1.0.0 -> 1.1.0\n');
    });
  });

  describe('pubkey response', () => {
    const lies: [string, (body: Record<string, unknown>) => unknown][] = [
      ['public_key is missing', (body) => without(body, 'public_key')],
      ['public_key is another’s', (body) => ({ ...body, public_key: others.pem })],
      ['predecessors is a text', (body) => ({ ...body, predecessors: 'x' })],
      ['predecessors holds null', (body) => ({ ...body, predecessors: [null] })],
      ['predecessors holds no keys', (body) => ({ ...body, predecessors: [{ public_key: 7, signature: 'x' }] })],
    ];
    for (const [what, lie] of lies)
      it(`rejects the pubkey response if ${what}`, async () => {
        server.lies.pubkey = lie;
        await rejected(
          3,
          /public key|signature of the release|signature of the freshness statement/,
          '--require-signed',
        );
      });
  });

  describe('freshness response', () => {
    const release = (version: string, manifest: string): object => ({ version, manifest_sha256: sha256(manifest) });
    const lies: [string, (said: Statement) => unknown][] = [
      ...['schema', 'product', 'channel', 'latest', 'steps', 'issued_at', 'expires_at'].map(
        (field): [string, (said: Statement) => unknown] => [`${field} is missing`, (said) => without(said, field)],
      ),
      ['schema is 2', (said) => ({ ...said, schema: 2 })],
      ['issued_at is no time', (said) => ({ ...said, issued_at: 'now' })],
      ['expires_at is no time', (said) => ({ ...said, expires_at: '9999' })],
      ['latest lacks a platform', (said) => ({ ...said, latest: without(said.latest, 'any') })],
      ['latest names no version', (said) => ({ ...said, latest: { ...said.latest, 'linux-x64': release('x', '') } })],
      ['latest is newer', (said) => ({ ...said, latest: { ...said.latest, 'linux-x64': release('1.2.0', '') } })],
      [
        'latest is other bytes',
        (said) => ({ ...said, latest: { ...said.latest, 'linux-x64': release('1.1.0', 'x') } }),
      ],
      ['steps holds no steps', (said) => ({ ...said, steps: [7] })],
    ];
    for (const [what, lie] of lies)
      it(`rejects a statement when ${what}`, async () => {
        server.lies.statement = (said) => lie(said as Statement);
        await rejected(3, /statement/, '--require-signed');
      });

    const around: [string, (body: Record<string, unknown>) => unknown][] = [
      ['statement is missing', (body) => without(body, 'statement')],
      ['statement is an object', (body) => ({ ...body, statement: JSON.parse(String(body['statement'])) as object })],
      ['signature is missing', (body) => without(body, 'signature')],
      ['signature is empty', (body) => ({ ...body, signature: '' })],
      ['signature is another’s', (body) => ({ ...body, signature: sign(others, String(body['statement'])) })],
    ];
    for (const [what, lie] of around)
      it(`rejects the freshness response if ${what}`, async () => {
        server.lies.freshness = lie;
        await rejected(3, /statement/, '--require-signed');
      });
  });

  describe('malicious mirrors that prevent updates', () => {
    const answering = (status: number, where: string): void => {
      server.lies.request = (request, response) => {
        if (!request.url?.includes(where)) return false;
        response.writeHead(status, { 'content-type': 'text/plain' }).end('no');
        return true;
      };
    };
    const table: [number, string, number][] = [
      [404, '/releases/', 1],
      [410, '/releases/', 1],
      [500, '/releases/', 8],
      [429, '/releases/', 8],
      [403, '/releases/', 2],
      [500, '/check', 8],
      [404, '/check', 8],
      [204, '/check', 8],
      [500, '/pubkey', 8],
    ];
    for (const [status, where, code] of table)
      it(`exits with an error for ${status} on ${where}: exit ${code}`, async () => {
        answering(status, where);
        await rejected(code, /./);
      });

    it('does not blame the account for a 403 from a proxy (S-403)', async () => {
      answering(403, '/releases/');
      await rejected(2, /CDN, proxy or firewall.*credentials were not checked/);
    });

    it('exits 8 when the connection is repeatedly reset', async () => {
      server.lies.request = (request) => {
        if (!request.url?.startsWith('/releases/')) return false;
        request.socket.destroy();
        return true;
      };
      await rejected(8, /./);
    });
  });

  it('rejects a release signed with a compromised mirror’s own key on first use with --pin', async () => {
    // Trust on first use cannot tell; --pin can, before the first contact.
    server.keys = others;
    for (const release of server.releases) release.signature = sign(others, release.manifest);
    await rejected(3, /not the pinned key/, '--pin', sha256(keys.spki));
    expect((await treeOf(join(dir)))['app.txt']).to.be.a('string');
  });
});
