import { token } from '../../kernel/contract/index.js';
import type { Cipher } from '../../ports/cipher.js';
import type { Clock } from '../../ports/clock.js';
import type { WatchdogApi } from '../../ports/domain/watchdog.js';
import type { LeaseRow } from '../../lib/lease.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { EgressPolicy, Outbound } from '../../ports/outbound.js';
import type { Processes, ProcessOwner } from '../../ports/processes.js';
import type { NetworkProbe } from '../../ports/network-probe.js';
import type { Collection } from '../../ports/store/index.js';
import type { ProbeDoc } from './model/probe.js';

export interface ProbesConfig {
  enabled: boolean;
  egress_policy: EgressPolicy['mode'];
  allow_cidrs: string[];
}

export interface ProbesDeps {
  probes: Collection<ProbeDoc>;
  leases: Collection<LeaseRow<ProcessOwner>>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  cipher: Cipher;
  outbound: Pick<Outbound, 'request' | 'checkUrl'>;
  reach: NetworkProbe;
  processes: Processes;
  watchdog: Pick<WatchdogApi, 'recordObservation' | 'find'>;
  policy: EgressPolicy;
  version: string;
}

export const DEPS = token<ProbesDeps>('probes.deps');
