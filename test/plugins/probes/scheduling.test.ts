/**
 * Which probes run when: over steps of the clock, next to targets that never answer, and where a
 * kind cannot run.
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { ServiceError } from '../../../kernel/errors.js';
import { OutboundError } from '../../../ports/outbound.js';
import type { NetworkProbe } from '../../../ports/network-probe.js';
import { fakeReach } from '../../kit/fakes.js';
import { probesOn, type ProbeFixture } from './fixture.js';

/** Lets everything that was begun and waits for nothing else come to its end. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
}

describe('probe scheduling', function () {
  function probesWith(reach: Partial<NetworkProbe>): ProbeFixture {
    const fixture = probesOn(new MemoryStore());
    fixture.deps.reach = { ...fakeReach, ...reach };
    return fixture;
  }
  const add = async ({ probes }: ProbeFixture, source: string, host: string): Promise<void> =>
    probes.save(
      source,
      await probes.prepare({ kind: 'tcp', host, port: 1, interval_seconds: 20, timeout_ms: 30_000 }, source),
    );
  const answer = {
    address: '127.0.0.1',
    duration_ms: 1,
    certificate: null,
    untrusted: null,
    said: null,
    public: false,
  };

  it('probes healthy targets on time while 300 others never respond (W06)', async () => {
    /** Askings that wait for their timeout. */
    const waiting: { until: number; give: () => void }[] = [];
    const requested = new Map<string, number[]>();
    const fixture = probesWith({
      connect: async ({ host }) => {
        requested.set(host, [...(requested.get(host) ?? []), fixture.clock.monotonic()]);
        if (host.startsWith('well')) return answer;
        await new Promise<void>((give) => waiting.push({ until: fixture.clock.monotonic() + 30_000, give }));
        throw new OutboundError('timeout', 'no answer');
      },
    });
    for (let i = 0; i < 300; i++) await add(fixture, `dead-${i}`, `dead-${i}.test`);
    for (let i = 0; i < 5; i++) await add(fixture, `well-${i}`, `well-${i}.test`);
    let most = 0;
    for (let second = 0; second < 600; second++) {
      fixture.clock.advance(1_000);
      const over = waiting.filter(({ until }) => until <= fixture.clock.monotonic());
      for (const one of over) {
        waiting.splice(waiting.indexOf(one), 1);
        one.give();
      }
      await settle();
      await fixture.prober.runTick();
      await settle();
      // Once each has been asked, those that did not answer are known.
      if (second > 300) most = Math.max(most, waiting.length);
    }
    for (let i = 0; i < 5; i++) {
      const times = (requested.get(`well-${i}.test`) ?? []).filter((at) => at > 300_000);
      const gaps = times.slice(1).map((at, n) => at - (times[n] as number));
      expect(times.length, `well-${i}`).to.be.at.least(6);
      expect(Math.max(...gaps), `well-${i}`).to.be.at.most(41_000);
    }
    expect(most).to.be.at.most(32);
    waiting.forEach(({ give }) => give());
    await fixture.prober.stop();
  });

  for (const [what, step] of [
    ['back by 100 s', -100_000],
    ['back by two hours', -7_200_000],
    ['forward by a day', 86_400_000],
  ] as const)
    it(`continues when the clock steps ${what}, and runs a new probe (W04)`, async () => {
      const fixture = probesWith({ connect: async () => answer });
      const { prober, clock, told: reported } = fixture;
      for (let i = 0; i < 5; i++) await add(fixture, `p-${i}`, `p-${i}.test`);
      const seconds = async (n: number): Promise<void> => {
        for (let i = 0; i < n; i++) {
          clock.advance(1_000);
          await prober.runTick();
          await prober.waitUntilIdle();
        }
      };
      await seconds(40);
      reported.length = 0;
      clock.set(clock.now() + step);
      await add(fixture, 'new', 'new.test');
      await seconds(45);
      const seen = reported.map(({ source }) => source);
      for (const source of ['p-0', 'p-1', 'p-2', 'p-3', 'p-4', 'new']) expect(seen).to.include(source);
      await prober.stop();
    });

  it('rejects icmp where the system cannot send echoes, without reporting the target as down (W27)', async () => {
    const fixture = probesWith({ findEchoFault: async () => 'this system has no ping' });
    const error: unknown = await fixture.probes
      .prepare({ kind: 'icmp', host: '127.0.0.1' }, 'a')
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ServiceError);
    expect((error as ServiceError).fields).to.deep.equal({
      'probe.kind': 'icmp cannot be used: this system has no ping',
    });
    fixture.deps.reach = {
      ...fakeReach,
      sendEcho: async () => {
        throw new OutboundError('unsupported', 'this system has no ping');
      },
    };
    await fixture.probes.save(
      'a',
      await fixture.probes.prepare({ kind: 'icmp', host: '127.0.0.1', interval_seconds: 20 }, 'a'),
    );
    for (let i = 0; i < 30; i++) {
      fixture.clock.advance(1_000);
      await fixture.prober.runTick();
      await fixture.prober.waitUntilIdle();
    }
    expect(fixture.told).to.deep.equal([]);
    await fixture.prober.stop();
  });
});
