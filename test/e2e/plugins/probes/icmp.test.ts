/**
 * Echoes to loopback, by the real `ping` where this machine has one that may send, and what is said
 * where it has none (contract 30, probes).
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { validateProbe } from '../../../../plugins/probes/model/probe-schema.js';
import type { ProbeResult } from '../../../../plugins/probes/model/probe-result.js';
import { probesOn } from '../../../plugins/probes/fixture.js';
import { isAvailable } from '../../../support/requirements.js';

function pings(): boolean {
  try {
    execFileSync('ping', ['-n', '-c', '1', '-W', '2', '127.0.0.1'], { stdio: 'ignore', timeout: 60_000 });
    return true;
  } catch {
    return false;
  }
}

describe('probes: ICMP', () => {
  const { asker } = probesOn(new MemoryStore());
  const echoed = (host: string, timeout_ms = 30_000): Promise<ProbeResult> =>
    asker.run(validateProbe({ kind: 'icmp', host, timeout_ms }));

  it('receive an echo from loopback (if ping is permitted)', async function () {
    if (!isAvailable('icmp', process.platform !== 'win32' && pings())) this.skip();
    for (const host of ['127.0.0.1', 'localhost']) {
      const seen = await echoed(host);
      expect(seen, seen.message).to.include({ ok: true });
      expect(seen.response_ms).to.be.a('number');
      expect(seen.message).to.equal(`${host} responded in ${seen.response_ms} ms`);
    }
  });

  it('do not contact a blocked address', async () => {
    expect((await echoed('169.254.169.254')).message).to.include('never allowed');
  });

  describe('with a fake ping command', () => {
    const path = process.env['PATH'];
    let folder: string;
    before(async function () {
      if (process.platform === 'win32') this.skip();
      folder = await mkdtemp(join(tmpdir(), 'aos-ping-'));
      process.env['PATH'] = folder;
    });
    after(async () => {
      process.env['PATH'] = path;
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    });

    it('report a system without ping', async () => {
      expect(await echoed('127.0.0.1')).to.include({ ok: false, message: 'This system has no ping command' });
    });

    it('try every address of a host name (W20)', async () => {
      const ping = join(folder, 'ping');
      await writeFile(ping, '#!/bin/sh\ncase "$*" in *192.0.2.2) echo "time=7 ms";; *) exit 1;; esac\n');
      await chmod(ping, 0o755);
      const resolve = async (): Promise<{ address: string; family: number }[]> =>
        ['192.0.2.1', '192.0.2.2'].map((address) => ({ address, family: 4 }));
      const named = probesOn(new MemoryStore(), { resolve }).asker;
      const seen = await named.run(validateProbe({ kind: 'icmp', host: 'shop.test', timeout_ms: 30_000 }));
      expect(seen).to.include({ ok: true, response_ms: 7 });
    });

    it('wait for a slot and for the response within a single time limit', async () => {
      const ping = join(folder, 'ping');
      // Those that may wait for a second do not end by themselves.
      await writeFile(
        ping,
        '#!/bin/sh\necho "$*" >> "$0.log"\ncase "$*" in *"1 -n -c"*) exec /bin/sleep 60;; *) echo "time=7 ms";; esac\n',
      );
      await chmod(ping, 0o755);
      const silent = Array.from({ length: 4 }, () => echoed('127.0.0.1', 1_000));
      expect(await echoed('127.0.0.1')).to.include({ ok: true, response_ms: 7 });
      for (const { message } of await Promise.all(silent)) expect(message).to.equal('No response within 1000 ms');
      const limits = [...(await readFile(`${ping}.log`, 'utf8')).matchAll(/-[Wt] (\d+)/g)].map(([, seconds]) =>
        Number(seconds),
      );
      expect(limits.slice(0, 4)).to.deep.equal([1, 1, 1, 1]);
      expect(limits[4], 'what its turn has left').to.be.below(30);
    });

    const SAID: [says: string, script: string, message: string][] = [
      [
        'a socket that may not be opened (iputils)',
        'echo "ping: socktype: SOCK_RAW" >&2; echo "ping: socket: Operation not permitted" >&2; exit 2',
        'This system does not allow the service to send a ping',
      ],
      [
        'a socket that may not be opened (busybox)',
        'echo "ping: permission denied (are you root?)" >&2; exit 1',
        'This system does not allow the service to send a ping',
      ],
      [
        'a network that is not reached',
        'echo "ping: connect: Network is unreachable" >&2; exit 2',
        'This system has no route to the host',
      ],
      ['no answer', 'exit 1', 'No response within 30000 ms'],
      ['another fault', 'echo "ping: bad option" >&2; exit 2', 'Ping failed: ping: bad option'],
    ];
    for (const [says, script, message] of SAID)
      it(`report ${says}`, async () => {
        const ping = join(folder, 'ping');
        await writeFile(ping, `#!/bin/sh\n${script}\n`);
        await chmod(ping, 0o755);
        expect(await echoed('127.0.0.1')).to.include({ ok: false, message });
      });
  });
});
