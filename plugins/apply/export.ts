/** Writes the stored objects as a document that applies without changes. Secrets are left out. */
import type { Principal } from '../../kernel/contract/index.js';
import { notFound } from '../../kernel/errors.js';
import type { ConfigFields, ConfigKind, ConfigObject } from '../../ports/domain/config/kinds.js';
import { yieldToEventLoop } from '../../lib/process/event-loop.js';
import { isAbsent } from './field-changes.js';

const OBJECTS_PER_TURN = 50;

export interface ExportResult {
  document: Record<string, unknown>;
  /** Paths of the secrets that were left out. */
  secrets: string[];
  warnings: string[];
}

/** @param project exports only this project and what belongs to it; null: everything */
export async function exportConfig(
  principal: Principal,
  kinds: readonly ConfigKind[],
  project: string | null,
): Promise<ExportResult> {
  const result: ExportResult = { document: { version: 1 }, secrets: [], warnings: [] };
  const included = new Set<string>();
  for (const spec of kinds) {
    const all = await spec.list(principal);
    const uses = countNames(all);
    const found = project === null ? all : all.filter((object) => isPartOf(spec, object, project, included));
    const unique = found.filter(({ name }) => uses.get(name) === 1);
    const repeated = new Set(found.flatMap(({ name }) => (uses.get(name) === 1 ? [] : [name])));
    for (const name of repeated)
      result.warnings.push(
        `${spec.kind}: ${name} is the name of several objects, which were omitted; rename all but one`,
      );
    const names = listFieldNames(spec);
    const entries: ConfigFields[] = [];
    for (const object of unique) {
      if (entries.length % OBJECTS_PER_TURN === 0) await yieldToEventLoop();
      const secrets = listPresentSecrets(spec, object);
      for (const field of secrets) result.secrets.push(`${spec.kind}[${entries.length}].${field}`);
      included.add(`${spec.kind} ${object.name}`);
      entries.push(toEntry(spec, object, { names, secrets }));
    }
    if (entries.length > 0) result.document[spec.kind] = entries;
  }
  if (project !== null && !included.has(`projects ${project}`)) throw notFound(`project ${project.slice(0, 64)}`);
  return result;
}

export function countNames(objects: readonly ConfigObject[]): Map<string, number> {
  const uses = new Map<string, number>();
  for (const { name } of objects) uses.set(name, (uses.get(name) ?? 0) + 1);
  return uses;
}

/** Objects without a project belong to it when everything that they reference does. */
function isPartOf(spec: ConfigKind, object: ConfigObject, project: string, included: ReadonlySet<string>): boolean {
  if (spec.kind === 'projects') return object.name === project;
  const references = spec.listReferences?.(object.fields) ?? [];
  const projects = references.filter(({ kind }) => kind === 'projects');
  if (projects.length > 0) return projects.every(({ name }) => name === project);
  return references.length > 0 && references.every(({ kind, name }) => included.has(`${kind} ${name}`));
}

const isObject = (value: unknown): value is ConfigFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const readMember = (fields: ConfigFields, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), fields);

const listPresentSecrets = (spec: ConfigKind, { fields }: ConfigObject): string[] =>
  (spec.listSecrets?.(fields) ?? []).filter((path) => !isAbsent(readMember(fields, path)));

const listFieldNames = ({ schema }: ConfigKind): string[] =>
  Object.keys((schema.describe() as { keys?: object }).keys ?? {});

function toEntry(
  { explicitNulls = [] }: ConfigKind,
  { fields }: ConfigObject,
  { names, secrets }: { names: readonly string[]; secrets: readonly string[] },
): ConfigFields {
  const shown = names.filter((name) => {
    const isNull = fields[name] === null && explicitNulls.includes(name);
    return !secrets.includes(name) && (isNull || !isAbsent(fields[name]));
  });
  return Object.fromEntries(shown.map((name) => [name, omitMembers(name, fields[name], secrets)]));
}

function omitMembers(field: string, value: unknown, secrets: readonly string[]): unknown {
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([name, one]) => one !== null && !secrets.includes(`${field}.${name}`));
  return Object.fromEntries(members);
}
