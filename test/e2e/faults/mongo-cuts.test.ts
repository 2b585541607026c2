/**
 * Three real processes on one MongoDB whose line is cut, held, refused and slow under load
 * (contract 95, a bad day): every report is answered, none is lost that was acknowledged or counted
 * twice, and every process serves again by itself.
 */
import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '../../harness.js';
import { scaleRepeats } from '../../support/repeat-budget.js';
import { durableEngines } from '../../support/durable-engines.js';
import { TestService } from '../../support/service.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { Ledger } from './ledger.js';

const PROCESSES = 3;
const WRITERS = 24;
/** As many as there are faults: each comes once in a developer's run. */
const ROUNDS = scaleRepeats(5);
/** A report is through in about as much. */
const UNDER_WAY_MS = 20;

/** What is waited for until it is opened. */
function opening(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('faults: three services with a bad connection to MongoDB', function () {
  this.timeout(600_000);
  let proxy: TcpProxy;
  let services: TestService[];
  let token: string;
  before(async function () {
    const settings = await durableEngines.find(({ name }) => name === 'mongodb')?.settings();
    if (!settings) this.skip();
    const url = new URL(settings['SVC_STORAGE_URL'] ?? '');
    proxy = await TcpProxy.startBefore({ host: url.hostname, port: Number(url.port) });
    url.host = `127.0.0.1:${proxy.port}`;
    url.searchParams.set('directConnection', 'true');
    const own = { SVC_LIMITS__INTAKE_PER_MINUTE: '0', SVC_LIMITS__NEW_GROUPS_PER_HOUR: '0', SVC_STORAGE_URL: url.href };
    const first = await TestService.createStarted({ ...settings, ...own });
    services = [first];
    await first.createProject('shop');
    token = await first.createToken('bugtracker:report,bugtracker:read');
    const more = Array.from({ length: PROCESSES - 1 }, () => TestService.createStarted({ ...settings, ...own }));
    services.push(...(await Promise.all(more)));
  });
  after(async () => {
    await Promise.all((services ?? []).map((service) => service.dispose()));
    await proxy?.close();
  });

  it(`answer every report through ${ROUNDS} faults under 24 writers, lose no data and recover`, async () => {
    const ledger = new Ledger();
    const statuses = new Set<number>();
    const taken = Array.from({ length: WRITERS }, () => 0);
    const ending = new AbortController();
    const report = async (writer: number): Promise<boolean> => {
      const group = `Class${writer}`;
      ledger.askError(group);
      const service = services[writer % PROCESSES] ?? expect.fail('it runs');
      const { status, headers, body } = await service.request('POST', '/api/errors/v1/report', token, {
        project: 'shop',
        error_level: 'error',
        error_message: 'Boom',
        exception_class: group,
      });
      statuses.add(status);
      if (status === 503) expect(Number(headers.get('retry-after'))).to.be.at.least(1);
      if (status !== 200 && status !== 201) return false;
      ledger.errorCounted(group, Number(body['hit_count']));
      return true;
    };
    /** Writers that were served wait here, so that all of them are under way at each fault. */
    let gate = opening();
    const write = async (writer: number): Promise<void> => {
      while (!ending.signal.aborted) {
        const next = gate.opened;
        if (await report(writer)) {
          taken[writer] = (taken[writer] ?? 0) + 1;
          await next;
        } else await pause(UNDER_WAY_MS);
      }
    };
    const writers = Promise.all(Array.from({ length: WRITERS }, (_, i) => write(i)));
    const total = (): number => taken.reduce((sum, n) => sum + n);
    let before = taken.map(() => -1);
    const send = (): void => {
      before = [...taken];
      gate.open();
      gate = opening();
    };
    const served = (): Promise<void> =>
      waitUntil('each writer is served', () => taken.every((n, i) => n > (before[i] ?? 0)));
    const cut = async (): Promise<void> => {
      send();
      await pause(Math.random() * UNDER_WAY_MS);
      proxy.resetConnections();
    };
    const faults = [
      cut,
      async () => {
        proxy.holdData();
        send();
        await waitUntil('each process waits', () => proxy.heldCount >= PROCESSES);
      },
      cut,
      async () => {
        proxy.rejectConnections();
        send();
        await waitUntil('it is refused', () => proxy.rejectedCount >= PROCESSES);
      },
      async () => {
        proxy.setDelay(20);
        send();
        await served();
      },
    ];
    try {
      for (let round = 0; round < ROUNDS; round++) {
        await faults[round % faults.length]?.();
        proxy.restore();
        await served();
      }
      // Six cuts of whatever has just come back, without waiting for all to be served.
      for (let n = 0; n < 6; n++) {
        const earlier = total();
        send();
        await waitUntil('something is served', () => total() > earlier);
        proxy.resetConnections();
      }
      send();
      await served();
    } finally {
      ending.abort();
      gate.open();
      await writers;
    }
    expect([...statuses].filter((status) => ![200, 201, 503].includes(status))).to.deep.equal([]);
    for (const { child } of services) expect(child?.exitCode).to.equal(null);
    for (let writer = 0; writer < WRITERS; writer++) {
      const group = `Class${writer}`;
      expect(await report(writer), group).to.equal(true);
      expect(ledger.highest(group)).to.be.within(ledger.counted(group), ledger.asked(group));
    }
  });
});
