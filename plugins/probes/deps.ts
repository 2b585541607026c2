import { token, type TokenValues } from '../../kernel/contract/index.js';
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

export const DEPS = {
  probes: token<Collection<ProbeDoc>>('probes:probes'),
  leases: token<Collection<LeaseRow<ProcessOwner>>>('probes:leases'),
  clock: token<Clock>('probes:clock'),
  ids: token<Ids>('probes:ids'),
  log: token<Logger>('probes:log'),
  cipher: token<Cipher>('probes:cipher'),
  outbound: token<Pick<Outbound, 'request' | 'checkUrl'>>('probes:outbound'),
  reach: token<NetworkProbe>('probes:reach'),
  processes: token<Processes>('probes:processes'),
  watchdog: token<Pick<WatchdogApi, 'recordObservation' | 'find'>>('probes:watchdog'),
  policy: token<EgressPolicy>('probes:policy'),
  version: token<string>('probes:version'),
};

export type ProbesDeps = TokenValues<typeof DEPS>;
