import type { CommandSpec } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { formatTable } from '../../../lib/format-table.js';
import type { MasterTokenService } from '../master-tokens.js';
import type { TokenService } from '../tokens/tokens.js';

const TOKEN_KINDS = ['master', 'watchdog', 'sub', 'setup', 'intake'] as const;

const UNIT_SECONDS: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses `3600`, `45m`, `12h` or `7d`. */
function parseSeconds(given: string | boolean | undefined): number | null {
  if (typeof given !== 'string') return null;
  const [, count, unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(given) ?? [];
  if (count === undefined || Number(count) === 0)
    throw invalid({ expires_in_seconds: 'must be a positive number of seconds, or a duration such as 45m, 12h, 7d' });
  return Number(count) * (UNIT_SECONDS[unit] ?? 1);
}

const toTextOption = (given: string | boolean | undefined): string | null => (typeof given === 'string' ? given : null);

export function buildTokenCommands(tokens: TokenService, masters: MasterTokenService): CommandSpec[] {
  return [
    {
      name: 'token create',
      summary: 'Create an API token (shown once)',
      options: {
        name: { type: 'string', value: 'name', summary: 'Name of the token', required: true },
        scopes: { type: 'string', value: 'scope,…', summary: 'Scopes, separated by commas', required: true },
        project: { type: 'string', value: 'slug', summary: 'Limit the token to this project' },
        agent: {
          type: 'string',
          value: 'name',
          summary: 'Limit the token to this coding agent',
        },
        source: { type: 'string', value: 'source', summary: 'Limit the token to this monitor source (watchdog:ping)' },
        'expires-in': {
          type: 'string',
          value: 'seconds|7d',
          field: 'expires_in_seconds',
          summary: 'Lifetime (default: the token does not expire)',
        },
      },
      run: async ({ options }) => {
        const scopes = String(options['scopes'] ?? '')
          .split(',')
          .map((scope) => scope.trim());
        const { token, record } = await masters.create('command line: aos token create', {
          name: String(options['name'] ?? ''),
          scopes: scopes.filter((scope) => scope !== ''),
          project: toTextOption(options['project']),
          source: toTextOption(options['source']),
          agent: toTextOption(options['agent']),
          expires_in_seconds: parseSeconds(options['expires-in']),
          created_by: 'command line',
        });
        const json = { ...record, token };
        return {
          json,
          text: `${token}\nid ${record.id}, scopes ${record.scopes.join(' ')}. The token is not shown again.`,
        };
      },
    },
    {
      name: 'token list',
      summary: 'List the tokens, without their secrets',
      options: {
        kind: {
          type: 'string',
          value: 'kind',
          summary: `One of ${TOKEN_KINDS.join(', ')}(default: master and watchdog tokens)`,
        },
      },
      run: async ({ options }) => {
        const kind = TOKEN_KINDS.find((known) => known === options['kind']);
        if (options['kind'] !== undefined && kind === undefined)
          throw invalid({ kind: `must be one of ${TOKEN_KINDS.join(', ')}` });
        const kinds = kind === undefined ? (['master', 'watchdog'] as const) : [kind];
        const items = (await Promise.all(kinds.map((one) => tokens.list({ kind: one })))).flat();
        const rows = items.map((item) => {
          const state = item.revoked_at === null ? (item.expires_at ?? 'never') : `revoked ${item.revoked_at}`;
          return [item.id, `${item.prefix}…`, item.name, item.project ?? '-', state, item.scopes.join(',')];
        });
        return { json: { items }, text: formatTable(['ID', 'PREFIX', 'NAME', 'PROJECT', 'EXPIRES', 'SCOPES'], rows) };
      },
    },
    {
      name: 'token revoke',
      summary: 'Revoke a token and its sub-tokens immediately',
      args: ['id'],
      run: async ({ args }) => {
        const record = await masters.revoke('command line: aos token revoke', args[0] ?? '');
        return { json: record, text: `revoked ${record.name} (${record.prefix}…)` };
      },
    },
  ];
}
