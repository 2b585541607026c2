import type { CommandCall, CommandSpec } from '../../../kernel/contract/index.js';
import { invalid, ServiceError } from '../../../kernel/errors.js';
import { EXIT_CODES } from '../output.js';
import { CONNECTION_OPTIONS, ServiceClient } from './client.js';
import { locatePath, mergeConfigFiles, type MergedConfig } from './config-files.js';

const APPLY_TIMEOUT_MS = 600_000;
const STANDARD_INPUT = '-';

interface PlannedAction {
  action: 'create' | 'update' | 'delete' | 'unchanged';
  kind: string;
  name: string;
  changes: { field: string; from: unknown; to: unknown }[];
}

interface ApplyAnswer {
  plan: PlannedAction[];
  applied: boolean;
  warnings: string[];
}

const SIGNS = { create: '+', update: '~', delete: '-' } as const;

const formatValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

function formatAction({ action, kind, name, changes }: PlannedAction): string[] {
  if (action === 'unchanged') return [];
  const lines = changes.map(({ field, from, to }) =>
    action === 'update'
      ? `    ${field}: ${formatValue(from)} → ${formatValue(to)}`
      : `    ${field}: ${formatValue(to)}`,
  );
  return [`${SIGNS[action]} ${kind} ${name}`, ...lines];
}

export function formatPlan({ plan, applied, warnings }: ApplyAnswer): string {
  const count = (wanted: PlannedAction['action']): number => plan.filter(({ action }) => action === wanted).length;
  const [created, updated, deleted] = [count('create'), count('update'), count('delete')];
  const rest = `${count('unchanged')} unchanged.`;
  const summary = applied
    ? `Applied: ${created} created, ${updated} updated, ${deleted} deleted, ${rest}`
    : `Plan: ${created} to create, ${updated} to update, ${deleted} to delete, ${rest}`;
  const lines = plan.flatMap(formatAction);
  return [...lines, ...(lines.length > 0 ? [''] : []), ...warnings.map((one) => `Warning: ${one}`), summary].join('\n');
}

async function readFiles(call: CommandCall): Promise<{ file: string; text: string }[]> {
  const files: { file: string; text: string }[] = [];
  for (const file of call.args) {
    const text =
      file === STANDARD_INPUT
        ? await call.stdin()
        : await call.read?.(file).catch((error: unknown) => throwNamed(file, error));
    files.push({ file: file === STANDARD_INPUT ? 'standard input' : file, text: text ?? '' });
  }
  return files;
}

function throwNamed(file: string, error: unknown): never {
  throw error instanceof ServiceError ? invalid({ [file]: error.fields?.['file'] ?? error.message }) : error;
}

/** Adds file and line to the faults that the service reports. */
function addLocations(error: unknown, merged: MergedConfig): unknown {
  if (!(error instanceof ServiceError) || error.fields === undefined) return error;
  const fields = Object.entries(error.fields).map(([path, fault]) => {
    const location = locatePath(path, merged);
    return [path, location === null ? fault : `${fault} (${location})`];
  });
  return new ServiceError(error.code, error.message, { status: error.status, fields: Object.fromEntries(fields) });
}

export const applyCommand: CommandSpec = {
  name: 'apply',
  summary: 'Apply configuration documents to a running service',
  options: {
    file: {
      type: 'string',
      short: 'f',
      value: 'file',
      summary: 'YAML or JSON document; several are merged; - reads standard input',
      repeatable: true,
    },
    'dry-run': {
      type: 'boolean',
      summary: 'Show the plan and change nothing; exit status 2 when something would change',
    },
    prune: { type: 'boolean', summary: 'Delete objects created by an earlier apply that the documents do not contain' },
    ...CONNECTION_OPTIONS,
  },
  run: async (call) => {
    const isDryRun = call.options['dry-run'] === true;
    const merged = await mergeConfigFiles(await readFiles(call));
    const client = await ServiceClient.open(call);
    const query = { ...(isDryRun && { dry_run: 1 }), ...(call.options['prune'] === true && { prune: 1 }) };
    const answer = await client
      .request<ApplyAnswer>('POST', '/api/admin/v1/apply', {
        query,
        body: merged.document,
        timeoutMs: APPLY_TIMEOUT_MS,
      })
      .catch((error: unknown) => {
        throw addLocations(error, merged);
      });
    const isChanged = answer.plan.some(({ action }) => action !== 'unchanged');
    return {
      json: answer,
      text: formatPlan(answer),
      exit: isDryRun && isChanged ? EXIT_CODES.skipped : EXIT_CODES.ok,
    };
  },
};
