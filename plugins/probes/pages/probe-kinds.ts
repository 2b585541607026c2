import { listProbeFields } from '../model/probe-schema.js';
import { PROBE_KINDS, type ProbeKind } from '../model/probe.js';
import { NEW_PROBE_PATH } from './probe-form.js';

const KIND_LABELS: Readonly<Record<ProbeKind, string>> = {
  http: 'HTTP check',
  tcp: 'TCP port',
  dns: 'DNS record',
  tls: 'TLS certificate',
  icmp: 'Ping (ICMP)',
  websocket: 'WebSocket',
  grpc: 'gRPC',
  postgresql: 'PostgreSQL',
  mysql: 'MySQL',
  redis: 'Redis',
  mongodb: 'MongoDB',
};
/** Others are reached from the form of a check. */
const USUAL_KINDS: readonly ProbeKind[] = ['http', 'tcp', 'dns', 'tls'];

const VISIBLE_FIELDS: Readonly<Record<ProbeKind, readonly string[]>> = {
  http: ['url', 'source', 'name', 'interval_seconds'],
  tcp: ['host', 'port', 'source', 'interval_seconds'],
  dns: ['host', 'record_type', 'expected_record', 'source'],
  tls: ['host', 'port', 'source', 'cert_days_warning'],
  icmp: ['host', 'source', 'name', 'interval_seconds'],
  websocket: ['url', 'source', 'name', 'interval_seconds'],
  grpc: ['host', 'port', 'service', 'source'],
  postgresql: ['host', 'port', 'source', 'interval_seconds'],
  mysql: ['host', 'port', 'source', 'interval_seconds'],
  redis: ['host', 'port', 'source', 'interval_seconds'],
  mongodb: ['host', 'port', 'source', 'interval_seconds'],
};
const MONITOR_FIELDS: readonly string[] = ['source', 'name'];

export const isProbeKind = (kind: unknown): kind is ProbeKind => PROBE_KINDS.some((one) => one === kind);

/** @param isNew with the fields of its monitor */
export function listFormFields(kind: ProbeKind, isNew: boolean): { visible: string[]; folded: string[] } {
  const visible = VISIBLE_FIELDS[kind].filter((name) => isNew || !MONITOR_FIELDS.includes(name));
  const all = [...(isNew ? MONITOR_FIELDS : []), ...listProbeFields(kind)];
  return { visible, folded: all.filter((name) => !visible.includes(name)) };
}

const getKindHref = (kind: ProbeKind): string => `${NEW_PROBE_PATH}?kind=${kind}`;

export const listProbeKinds = (): { value: string; label: string; href: string }[] => [
  ...USUAL_KINDS.map((value) => ({ value, label: KIND_LABELS[value], href: getKindHref(value) })),
  { value: 'other', label: 'More…', href: getKindHref('icmp') },
];

export const listKindChoices = (): { value: ProbeKind; label: string }[] =>
  PROBE_KINDS.map((value) => ({ value, label: KIND_LABELS[value] }));

const HEARTBEAT_KINDS = [
  { value: 'heartbeat', label: 'Heartbeat', href: '/monitors/new?kind=heartbeat' },
  { value: 'cron', label: 'Cron job', href: '/monitors/new?kind=cron' },
];

/** Returns links as tabs; kinds that are not usual are a second row. */
export function listKindTabs(chosen: ProbeKind): { tabs: object[]; more: object[] | null } {
  const isUsual = USUAL_KINDS.includes(chosen);
  const [first, ...others] = listProbeKinds();
  const tabs = [first, ...HEARTBEAT_KINDS, ...others].map((one) =>
    Object.assign({ active: one?.value === (isUsual ? chosen : 'other') }, one),
  );
  const rare = PROBE_KINDS.filter((kind) => !USUAL_KINDS.includes(kind));
  const toTab = (kind: ProbeKind) => ({ label: KIND_LABELS[kind], href: getKindHref(kind), active: kind === chosen });
  return { tabs, more: isUsual ? null : rare.map(toTab) };
}
