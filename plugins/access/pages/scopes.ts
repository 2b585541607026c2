const SCOPE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  'bugtracker:report': 'Report errors, bugs and feature requests',
  'bugtracker:read': 'Read issues, events, comments and statistics',
  'bugtracker:manage': 'Read, claim, change, merge and comment on issues; manage ignore rules',
  'watchdog:ping': 'Send heartbeats and monitor events',
  'watchdog:read': 'Read monitors, metrics and timelines',
  'watchdog:manage': 'Read, create and change monitors',
  'updateservice:publish': 'Publish, promote, roll out and withdraw releases',
  'setup:install': 'Install applications',
  'license:read': 'Read licenses and their machines',
  'license:manage': 'Read, create, extend and revoke licenses',
  'webhooks:manage': 'Read and change webhooks and see responses',
  'projects:read': 'Read projects',
  'projects:manage': 'Read, create, change and archive projects',
  'system:read': 'Read health details and Prometheus metrics',
  'system:manage': 'Apply and export the configuration',
};

const SCOPE_GROUP_LABELS: Readonly<Record<string, string>> = {
  bugtracker: 'Issues',
  watchdog: 'Monitors',
  updateservice: 'Releases',
  setup: 'Installer',
  license: 'Licenses',
  webhooks: 'Webhooks',
  projects: 'Projects',
  system: 'System',
};

export interface ScopePreset {
  id: string;
  label: string;
  text: string;
  scopes: readonly string[];
}

const SCOPE_PRESETS: readonly ScopePreset[] = [
  {
    id: 'application',
    label: 'Application',
    text: 'Reports errors and sends heartbeats',
    scopes: ['bugtracker:report', 'watchdog:ping'],
  },
  {
    id: 'agent',
    label: 'Coding agent',
    text: 'Picks up, fixes and reports issues',
    scopes: ['bugtracker:manage', 'bugtracker:report', 'projects:read'],
  },
  {
    id: 'ci',
    label: 'CI',
    text: 'Publishes releases and reports bugs',
    scopes: ['updateservice:publish', 'bugtracker:report', 'projects:read'],
  },
  {
    id: 'monitoring',
    label: 'Monitoring',
    text: 'Sends heartbeats, reads states and metrics',
    scopes: ['watchdog:ping', 'watchdog:read', 'bugtracker:read', 'system:read'],
  },
];

export function listPresets(scopes: readonly string[]): ScopePreset[] {
  return SCOPE_PRESETS.flatMap((preset) => {
    const known = preset.scopes.filter((scope) => scopes.includes(scope));
    return known.length === 0 ? [] : [{ ...preset, scopes: known }];
  });
}

export interface ScopeGroup {
  label: string;
  scopes: { scope: string; meaning: string | null; checked: boolean }[];
}

/** Third-party scopes follow by prefix. */
export function groupScopes(scopes: readonly string[], chosen: readonly string[]): ScopeGroup[] {
  const nouns = [...new Set([...Object.keys(SCOPE_GROUP_LABELS), ...scopes.map(getScopeGroup).toSorted()])];
  return nouns.flatMap((noun) => {
    const own = scopes
      .filter((scope) => getScopeGroup(scope) === noun)
      .toSorted((a, b) => getScopeRank(a) - getScopeRank(b));
    if (own.length === 0) return [];
    const shown = own.map((scope) => ({
      scope,
      meaning: SCOPE_DESCRIPTIONS[scope] ?? null,
      checked: chosen.includes(scope),
    }));
    return [{ label: SCOPE_GROUP_LABELS[noun] ?? noun, scopes: shown }];
  });
}

const getScopeGroup = (scope: string): string => scope.split(':')[0] as string;
const SCOPE_ORDER = Object.keys(SCOPE_DESCRIPTIONS);
const getScopeRank = (scope: string): number =>
  SCOPE_ORDER.includes(scope) ? SCOPE_ORDER.indexOf(scope) : SCOPE_ORDER.length;
