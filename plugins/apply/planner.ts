/**
 * Compares a document with what is stored, and checks all of it before anything is written. The
 * order is: projects first, dependent objects after them; deletions last, in reverse.
 */
import type { ValidationError, ValidationOptions } from 'joi';
import { ServiceError, type Principal } from '../../kernel/contract/index.js';
import { invalid } from '../../kernel/errors.js';
import { yieldToEventLoop } from '../../lib/process/event-loop.js';
import { VALIDATION_MESSAGES } from '../../lib/validation-messages.js';
import type { ConfigFields, ConfigKind, ConfigObject } from '../../ports/domain/config/kinds.js';
import { findLiveTokenFields, type LiveTokenDetector } from '../../ports/domain/live-tokens.js';
import { listUnresolvedReferences, type ConfigDocument } from './document.js';
import { countNames } from './export.js';
import { findFieldChanges, type FieldChange } from './field-changes.js';

const MAX_FAULTS = 50;
const MAX_MESSAGE_LENGTH = 300;
/** Entries between pauses, because a document may have thousands. */
const ENTRIES_PER_TURN = 10;

const ENTRY_OPTIONS: ValidationOptions = {
  abortEarly: false,
  convert: false,
  allowUnknown: false,
  errors: { label: false, wrap: { array: false, string: false }, escapeHtml: false, stack: false },
  messages: { ...VALIDATION_MESSAGES, 'object.unknown': 'is not a field of this object' },
};

export interface PlannedAction {
  action: 'create' | 'update' | 'delete' | 'unchanged';
  kind: string;
  name: string;
  changes: FieldChange[];
}

export interface PlanStep extends PlannedAction {
  /** Position in the document; of a deletion, kind and name. */
  path: string;
  /** @returns warnings */
  run(): Promise<readonly string[]>;
}

export interface Plan {
  steps: PlanStep[];
  warnings: string[];
}

interface Entry {
  spec: ConfigKind;
  path: string;
  fields: ConfigFields;
  before: ConfigObject | null;
}

type StoredObjects = ReadonlyMap<string, readonly ConfigObject[]>;

const runNothing = async (): Promise<readonly string[]> => [];

const appendPath = (path: string, part: string | number): string =>
  /^\d+$/.test(String(part)) ? `${path}[${part}]` : `${path}.${part}`;

/** Appends a field as services name it: `components.0.name` becomes `….components[0].name`. */
const joinPath = (base: string, field: string): string => field.split('.').reduce(appendPath, base);

export class Planner {
  readonly #faults = new Map<string, string>();
  readonly #warnings: string[] = [];
  #handled = 0;

  constructor(
    private readonly kinds: readonly ConfigKind[],
    private readonly live: LiveTokenDetector,
  ) {}

  /** @throws ServiceError validation_failed with the path of each fault, insufficient_scope */
  async plan(principal: Principal, document: ConfigDocument, prune: boolean): Promise<Plan> {
    const stored = new Map<string, readonly ConfigObject[]>();
    for (const spec of this.kinds) stored.set(spec.kind, await spec.list(principal));
    const sections: Entry[][] = [];
    for (const spec of this.kinds) sections.push(await this.#readSection(spec, document, stored.get(spec.kind) ?? []));
    const entries = sections.flat();
    this.#checkReferences(entries, stored);
    const steps: PlanStep[] = [];
    for (const entry of entries) {
      await this.#pause();
      await this.#checkLiveTokens(entry);
      const step = await this.#planEntry(principal, entry);
      if (step !== null) steps.push(step);
    }
    if (this.#faults.size > 0) throw invalid(Object.fromEntries([...this.#faults].slice(0, MAX_FAULTS)));
    if (prune) steps.push(...this.#planDeletions(principal, entries, stored));
    return { steps, warnings: this.#warnings };
  }

  #addFault(path: string, message: string): void {
    if (!this.#faults.has(path)) this.#faults.set(path, message.trim().slice(0, MAX_MESSAGE_LENGTH));
  }

  async #pause(): Promise<void> {
    this.#handled += 1;
    if (this.#handled % ENTRIES_PER_TURN === 0) await yieldToEventLoop();
  }

  async #readSection(spec: ConfigKind, document: ConfigDocument, stored: readonly ConfigObject[]): Promise<Entry[]> {
    const names = new Map<string, string>();
    const uses = countNames(stored);
    const byName = new Map(stored.map((object) => [object.name, object]));
    const entries: Entry[] = [];
    for (const [at, given] of (document.get(spec.kind) ?? []).entries()) {
      await this.#pause();
      const path = `${spec.kind}[${at}]`;
      for (const place of listUnresolvedReferences(given, path))
        this.#addFault(place, 'contains a reference to a secret, which only the command `aos apply` resolves');
      const fields = this.#validateEntry(spec, given, path);
      if (fields === null) continue;
      const name = spec.getName(fields);
      const field = `${path}.${spec.nameFields.at(-1)}`;
      const earlier = names.get(name);
      if (earlier !== undefined) this.#addFault(field, `is also the name of ${earlier}`);
      names.set(name, path);
      const before = byName.get(name) ?? null;
      if ((uses.get(name) ?? 0) > 1)
        this.#addFault(field, `is the name of several stored ${spec.kind}; rename all but one of them`);
      entries.push({ spec, path, fields, before });
    }
    return entries;
  }

  #validateEntry(spec: ConfigKind, given: Record<string, unknown>, path: string): ConfigFields | null {
    const { value, error } = spec.schema.validate(given, ENTRY_OPTIONS) as {
      value: ConfigFields;
      error?: ValidationError;
    };
    for (const detail of error?.details ?? []) this.#addFault(detail.path.reduce(appendPath, path), detail.message);
    const unnamed = spec.nameFields.filter((name) => (given[name] ?? '') === '');
    for (const name of unnamed) this.#addFault(`${path}.${name}`, 'is required, because it names the object');
    return error === undefined && unnamed.length === 0 ? value : null;
  }

  #checkReferences(entries: readonly Entry[], stored: StoredObjects): void {
    const names = new Map(
      [...stored].map(([kind, objects]) => [kind, new Set(objects.map((object) => object.name))] as const),
    );
    for (const { spec, fields } of entries) names.get(spec.kind)?.add(spec.getName(fields));
    for (const { spec, path, fields } of entries)
      for (const { field, kind, name } of spec.listReferences?.(fields) ?? [])
        if (names.get(kind)?.has(name) === false)
          this.#addFault(joinPath(path, field), `unknown: ${name.slice(0, 100)} is not among the ${kind}`);
  }

  async #checkLiveTokens({ path, fields, spec }: Entry): Promise<void> {
    const secrets = spec.listSecrets?.(fields) ?? [];
    const shown = Object.entries(fields).filter(([name]) => !secrets.includes(name));
    const texts = Object.fromEntries(shown.map(([name, value]) => [`${path}.${name}`, value]));
    for (const [place, message] of Object.entries(await findLiveTokenFields(this.live, texts)))
      this.#addFault(place, message);
  }

  async #planEntry(principal: Principal, { spec, path, fields, before }: Entry): Promise<PlanStep | null> {
    const { kind } = spec;
    const name = spec.getName(fields);
    const whole = await this.#normalize(principal, spec, path, fields, before);
    if (whole === null) return null;
    const changes = findFieldChanges(whole, before?.fields ?? null, spec.listSecrets?.(whole) ?? []);
    const step = { kind, name, changes, path };
    if (before === null) return { ...step, action: 'create', run: () => spec.create(principal, whole) };
    if (changes.length === 0) return { ...step, action: 'unchanged', run: runNothing };
    const changed = Object.fromEntries(changes.map(({ field }) => [field, whole[field]]));
    const update = async (): Promise<readonly string[]> => {
      await spec.update(principal, before, changed, whole);
      return [];
    };
    return { ...step, action: 'update', run: update };
  }

  /** Returns null for a fault, and for an entry that has no effect any more. */
  async #normalize(
    principal: Principal,
    spec: ConfigKind,
    path: string,
    fields: ConfigFields,
    before: ConfigObject | null,
  ): Promise<ConfigFields | null> {
    if (spec.normalize === undefined) return fields;
    try {
      const whole = await spec.normalize(principal, fields, before);
      if (whole === null) this.#warnings.push(`${path}: ${spec.getName(fields)} has ended and was omitted`);
      return whole;
    } catch (error) {
      for (const [place, message] of Object.entries(toEntryFaults(path, error))) this.#addFault(place, message);
      return null;
    }
  }

  #planDeletions(principal: Principal, entries: readonly Entry[], stored: StoredObjects): PlanStep[] {
    const named = new Set(entries.flatMap(({ before }) => before ?? []));
    return this.kinds.toReversed().flatMap((spec) =>
      (stored.get(spec.kind) ?? [])
        .filter((object) => object.managed && !named.has(object))
        .map((object): PlanStep => {
          const { kind } = spec;
          const run = async (): Promise<readonly string[]> => {
            await spec.delete(principal, object);
            return [];
          };
          return { action: 'delete', kind, name: object.name, changes: [], path: `${kind} ${object.name}`, run };
        }),
    );
  }
}

/**
 * Returns the faults of a rejected entry by path.
 * @throws the error itself when it is a failure of the service, or with the path when it is about
 *   rights
 */
export function toEntryFaults(path: string, error: unknown): Record<string, string> {
  if (!(error instanceof ServiceError) || error.status >= 500 || error.status === 429) throw error;
  const { code, status, message, fields = {} } = error;
  if (status === 401 || status === 403)
    throw new ServiceError(code, `${path}: ${message}`, { status, fields: { [path]: message } });
  const named = Object.entries(fields);
  if (named.length === 0) return { [path]: message };
  return Object.fromEntries(named.map(([field, fault]) => [joinPath(path, field), fault]));
}
