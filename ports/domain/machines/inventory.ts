/** The inventory of machines that run a project (contract 80). */
import { extensionPoint, token } from '../../token.js';

export type MachineSource = 'update_check' | 'activation' | 'heartbeat';

/** What a machine reported about itself; null: not reported. */
export interface MachineReport {
  source: MachineSource;
  project: string;
  /** Instance id or machine id; of a heartbeat, the monitor's source. */
  key: string;
  /** Of a heartbeat: the id that the machine's update checks and activations use. */
  instance_id?: string | null;
  name: string | null;
  version: string | null;
  channel: string | null;
  platform: string | null;
  license_id: string | null;
}

export interface MachineView {
  id: string;
  project: string;
  name: string;
  instance_id: string | null;
  version: string | null;
  channel: string;
  platform: string | null;
  license_id: string | null;
  /** Source of its monitor. */
  monitor: string | null;
  first_seen_at: string;
  last_seen_at: string;
}

/** Machines with the same channel, platform and version. */
export interface MachineCount {
  project: string;
  channel: string;
  platform: string | null;
  version: string | null;
  machines: number;
}

export interface MachineQuery {
  project?: string | undefined;
  /** As machines spell it. */
  version?: string | undefined;
  channel?: string | undefined;
  /** Includes machines that reported no platform. */
  platform?: string | undefined;
  /** Only machines below the newest release of their channel. */
  outdated?: boolean | undefined;
  /** Only machines that have been silent. */
  silent?: boolean | undefined;
  limit: number;
  /** `next` of the previous page. */
  after?: string | null;
}

export interface MachineAdoption {
  /** RFC 3339. */
  hour: string;
  machines: number;
}

/** Machines by version, most frequent first. */
export interface MachineDay {
  /** `2026-11-29`, UTC. */
  day: string;
  versions: readonly { version: string | null; machines: number }[];
}

export interface MachineTotals {
  machines: number;
  outdated: number;
  silent: number;
}

export interface MachineInventory {
  /** Returns immediately; the report is stored soon after. */
  record(report: MachineReport): void;
  /** Most frequent first. */
  listCounts(project?: string): Promise<MachineCount[]>;
  /** Machines that run a version now, by the hour in which each reported it first, oldest first. */
  listAdoption(project: string, version: string, channel: string): Promise<MachineAdoption[]>;
  /**
   * Recorded days, oldest first, and today as it is now.
   * @param days at most
   */
  listDays(project: string, days: number): Promise<MachineDay[]>;
  getTotals(project?: string): Promise<MachineTotals>;
  /**
   * Last seen first.
   * @throws InvalidCursor
   */
  list(query: MachineQuery): Promise<{ items: (MachineView & { outdated: boolean })[]; next: string | null }>;
}

export const MACHINES = token<MachineInventory>('machines.inventory');

/** The newest release that every machine of a channel and platform is offered. */
export interface ChannelNewest {
  channel: string;
  platform: string;
  version: string;
}

/** Releases that machines are compared with. */
export interface MachineReleases {
  listNewest(project: string): readonly ChannelNewest[];
  /** Returns the channel that has the version: stable where it does, otherwise the first. */
  findChannel(project: string, version: string): string | null;
}

/** At most one. */
export const MACHINE_RELEASES = extensionPoint<MachineReleases>('machines.releases');
