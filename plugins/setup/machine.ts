/** Creates the monitor of a machine, with its token and report script (contract 60, agent). */
import {
  PORT,
  collection,
  inject,
  injectable,
  type AppSettings,
  type Clock,
  type Collection,
} from '../../kernel/contract/index.js';
import { conflict, invalid, ServiceError } from '../../kernel/errors.js';
import { MINUTE_MS } from '../../lib/time.js';
import { AUDIT, type AuditLog } from '../../ports/domain/audit.js';
import { TOKENS, type TokenIssuer } from '../../ports/domain/tokens.js';
import { WATCHDOG, type MonitorView, type WatchdogApi } from '../../ports/domain/watchdog.js';
import type { Principal } from '../../ports/http/index.js';
import { StoreConflict } from '../../ports/store/index.js';
import type { IssuedDoc, MachineDoc } from './documents.js';
import { buildSchedule, type Schedule } from './schedule.js';
import { buildReportScript, type ReportScript } from './report-script.js';
import { requireInstaller } from './session.js';
import { toMonitorSource } from './monitor-source.js';

export interface MachineRequest {
  name: string;
  hostname: string;
  platform: string;
  interval_seconds: number;
  parent_source?: string | null;
  project?: string | null;
  replace: boolean;
}

export interface MachineAnswer {
  monitor: MonitorView;
  token: string;
  scopes: string[];
  script: ReportScript;
  schedule: Schedule;
  heartbeat_url: string;
}

const MACHINE_SCOPES = ['watchdog:ping'];

@injectable()
export class SetupMachineService {
  constructor(
    @inject(collection<IssuedDoc>('issued')) private readonly issued: Collection<IssuedDoc>,
    @inject(collection<MachineDoc>('machines')) private readonly machines: Collection<MachineDoc>,
    @inject(WATCHDOG) private readonly watchdog: WatchdogApi,
    @inject(TOKENS) private readonly tokens: TokenIssuer,
    @inject(AUDIT) private readonly audit: AuditLog,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.app) private readonly app: AppSettings,
  ) {}

  /**
   * @throws ServiceError validation_failed (name), unknown_project, conflict for an existing source
   */
  async create(principal: Principal, request: MachineRequest): Promise<MachineAnswer> {
    const { username } = requireInstaller(principal);
    const source = toMonitorSource(request.name);
    if (source === null) throw invalid({ name: 'must contain a letter or a digit (A-Z a-z 0-9)' });
    const { platform, interval_seconds } = request;
    const heartbeat_url = `${this.app.base_url.replace(/\/$/, '')}/api/watchdog/v1/ping`;
    const script = buildReportScript(platform, { url: heartbeat_url, source, interval_seconds });
    const monitor = await this.#createMonitor(principal, username, source, request);
    const made = await this.tokens.issue({
      kind: 'watchdog',
      name: `heartbeats of ${source}`.slice(0, 100),
      scopes: MACHINE_SCOPES,
      source,
      project: monitor.project,
      created_by: `setup: ${username}`,
    });
    const at = this.clock.iso();
    await this.issued.insert({
      id: made.id,
      kind: 'machine',
      project: monitor.project,
      name: source,
      by: username,
      at,
    });
    await this.audit.record(principal, 'token.created', source, { kind: 'watchdog', source, by: username });
    const schedule = buildSchedule(platform, source, interval_seconds, script.filename);
    return { monitor, token: made.token, scopes: MACHINE_SCOPES, script, schedule, heartbeat_url };
  }

  /**
   * The machine's row is written first, so that after a crash `replace` does not reject the monitor
   * as someone else's.
   */
  async #createMonitor(
    principal: Principal,
    by: string,
    source: string,
    request: MachineRequest,
  ): Promise<MonitorView> {
    const existing = await this.watchdog.find(source);
    if (existing !== null) return this.#replaceTokens(principal, source, existing, request);
    const at = this.clock.iso();
    const project = request.project ?? null;
    try {
      await this.machines.insert({ id: source, project, created_at: null, at });
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      await this.machines.change({ id: source }, { set: { project, created_at: null, at } });
    }
    const { name, hostname, platform, interval_seconds, parent_source = null } = request;
    const os = platform.startsWith('win-') ? 'windows' : 'linux';
    const fields = { source, name, parent_source, interval_seconds, os, project, description: `Machine ${hostname}` };
    try {
      const monitor = await this.watchdog.create(fields, by);
      await this.machines.change({ id: source }, { set: { created_at: monitor.created_at } });
      await this.audit.record(principal, 'monitor.created', source, { name, by });
      return monitor;
    } catch (error) {
      const isConflict = error instanceof ServiceError && error.code === 'conflict';
      if (isConflict && (await this.watchdog.find(source)) !== null) throw createKnownSourceError(source, request.name);
      throw toSentFieldError(error);
    }
  }

  async #replaceTokens(
    principal: Principal,
    source: string,
    monitor: MonitorView,
    { replace, name, project = null }: MachineRequest,
  ): Promise<MonitorView> {
    if (!replace) throw createKnownSourceError(source, name);
    const row = await this.machines.get(source);
    const ours = row !== null && isCreatedBy(row, monitor);
    if (!ours || monitor.project !== project) {
      throw conflict(
        ours
          ? `The monitor ${source} belongs to ${monitor.project === null ? 'no project' : `the project ${monitor.project}`}.`
          : `The monitor ${source} was not created by setup and cannot be replaced. Choose another name.`,
      );
    }
    const page = await this.issued.find({ filter: { kind: 'machine', name: source }, limit: 1000 });
    for (const { id } of page.items) {
      await this.tokens.revoke(id);
      await this.issued.remove({ id });
    }
    await this.audit.record(principal, 'token.revoked', source, { kind: 'watchdog', source, reason: 'replaced' });
    return monitor;
  }
}

/** An unfinished row matches a monitor created within a minute of it. */
const isCreatedBy = ({ created_at, at }: MachineDoc, monitor: MonitorView): boolean =>
  created_at === null
    ? Math.abs(Date.parse(monitor.created_at) - Date.parse(at)) < MINUTE_MS
    : created_at === monitor.created_at;

const createKnownSourceError = (source: string, name: string): Error =>
  conflict(
    source === name
      ? `Monitor ${source} already exists. Choose another name, or replace it.`
      : `Monitor ${source}, the source of ${name}, already exists. Choose another name, or replace it.`,
  );

/** Request field by monitor field, so that errors name the submitted field. */
const SENT_FIELD_NAMES: Readonly<Record<string, string>> = { source: 'name', os: 'platform', description: 'hostname' };

function toSentFieldError(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'validation_failed') return error;
  const fields = Object.entries(error.fields ?? {}).map(([name, fault]) => [SENT_FIELD_NAMES[name] ?? name, fault]);
  return invalid(Object.fromEntries(fields) as Record<string, string>, error.message);
}
