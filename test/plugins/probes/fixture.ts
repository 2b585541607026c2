/**
 * The services of the probes over a store of the test's choice; what they see goes to a list in
 * place of monitors.
 */
import type { LookupAddress } from 'node:dns';
import { NodeOutbound } from '../../../adapters/node/outbound.js';
import { NodeReach } from '../../../adapters/node/reach/reach.js';
import { RandomIds } from '../../../adapters/node/ids.js';
import { ContainerScope } from '../../../kernel/container.js';
import { bindAll } from '../../../kernel/inject.js';
import { ProbeRunner } from '../../../plugins/probes/runner/probe-runner.js';
import { ProbeScheduler } from '../../../plugins/probes/runner/probe-scheduler.js';
import { DEPS, type ProbesDeps } from '../../../plugins/probes/deps.js';
import { ProbeService } from '../../../plugins/probes/probe-service.js';
import type { Observation } from '../../../ports/domain/watchdog.js';
import type { EgressPolicy } from '../../../ports/outbound.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import { ManualClock } from '../../kit/clock.js';
import { fakeCipher, RecordingLog } from '../../kit/fakes.js';
import { toReplaceable } from '../../support/replaceable.js';

export interface ProbeFixture {
  deps: ProbesDeps;
  probes: ProbeService;
  asker: ProbeRunner;
  prober: ProbeScheduler;
  clock: ManualClock;
  told: Observation[];
  /** Monitors that are gone. */
  gone: Set<string>;
}

interface FixtureOptions {
  clock?: ManualClock;
  policy?: EgressPolicy;
  pid?: number;
  /** Certificate authorities that are trusted beside the usual ones, PEM. */
  ca?: string;
  /** Name servers of DNS probes, `address:port`. */
  servers?: readonly string[];
  /** Addresses of names. */
  resolve?: (name: string) => Promise<LookupAddress[]>;
}

export function probesOn(
  store: DocumentStore,
  { clock = new ManualClock(), policy, pid = 1, ca, servers, resolve }: FixtureOptions = {},
): ProbeFixture {
  const reported: Observation[] = [];
  const gone = new Set<string>();
  const own = { ...(ca !== undefined && { ca }), ...(resolve !== undefined && { resolve }) };
  const deps: ProbesDeps = {
    probes: store.collection('probes_probes'),
    leases: store.collection('probes_leases'),
    clock,
    ids: new RandomIds(clock),
    log: new RecordingLog(),
    cipher: fakeCipher,
    outbound: new NodeOutbound({ ...own }),
    reach: new NodeReach({ ...own, ...(servers !== undefined && { servers }) }),
    processes: {
      // Its own terms end while the clock is moved: nobody renews them.
      getSelf: async () => ({ host: 'test', pid, started: null }),
      isDead: async (owner) => owner.pid === pid,
    },
    watchdog: {
      find: async () => null,
      recordObservation: async (observation) => {
        if (gone.has(observation.source)) return false;
        reported.push(observation);
        return true;
      },
    },
    policy: policy ?? { mode: 'private-ok', allow: [] },
    version: '0',
  };
  const scope = ContainerScope.createRoot({});
  bindAll(scope, DEPS, toReplaceable(deps));
  return {
    deps,
    ...scope.services({ probes: ProbeService, asker: ProbeRunner, prober: ProbeScheduler }),
    clock,
    told: reported,
    gone,
  };
}
