/** Plans and applies documents, one at a time, with the rights of the caller. */
import { conflict, ServiceError, type Principal } from '../../kernel/contract/index.js';
import { invalid } from '../../kernel/errors.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { ConfigKind } from '../../ports/domain/config/kinds.js';
import type { LiveTokenDetector } from '../../ports/domain/live-tokens.js';
import type { YamlParser } from '../../ports/yaml-parser.js';
import { readDocument } from './document.js';
import { Planner, toEntryFaults, type PlannedAction, type PlanStep } from './planner.js';

export interface ApplyOutcome {
  plan: PlannedAction[];
  applied: boolean;
  warnings: string[];
}

export interface ApplyOptions {
  isJson: boolean;
  dryRun: boolean;
  prune: boolean;
}

interface ApplyDeps {
  /** In order of creation. */
  kinds: () => readonly ConfigKind[];
  live: LiveTokenDetector;
  yaml: YamlParser;
  audit: Pick<AuditLog, 'record'>;
  /** Returns null while another call or process holds the lock. */
  lock: <T>(work: () => Promise<T>) => Promise<{ result: T } | null>;
}

export class ApplyService {
  constructor(private readonly deps: ApplyDeps) {}

  /** @throws ServiceError validation_failed with paths in the document, conflict */
  async apply(principal: Principal, bytes: Buffer, options: ApplyOptions): Promise<ApplyOutcome> {
    const work = (): Promise<ApplyOutcome> => this.#run(principal, bytes, options);
    if (options.dryRun) return work();
    const done = await this.deps.lock(work);
    if (done === null) throw conflict('Another configuration is being applied. Try again in a minute.');
    return done.result;
  }

  async #run(principal: Principal, bytes: Buffer, { isJson, dryRun, prune }: ApplyOptions): Promise<ApplyOutcome> {
    const kinds = this.deps.kinds();
    const names = kinds.map(({ kind }) => kind);
    const document = await readDocument(bytes, isJson, { kinds: names, yaml: this.deps.yaml });
    const { steps, warnings } = await new Planner(kinds, this.deps.live).plan(principal, document, prune);
    if (!dryRun) warnings.push(...(await this.#runSteps(principal, steps)));
    const plan = steps.map(({ action, kind, name, changes }) => ({ action, kind, name, changes }));
    return { plan, applied: !dryRun, warnings };
  }

  async #runSteps(principal: Principal, steps: readonly PlanStep[]): Promise<string[]> {
    const warnings: string[] = [];
    const open = steps.filter(({ action }) => action !== 'unchanged');
    const counts = { create: 0, update: 0, delete: 0, unchanged: 0 };
    for (const step of open) {
      try {
        warnings.push(...(await step.run()));
        counts[step.action] += 1;
      } catch (error) {
        const warning = step.action === 'delete' ? toDeletionWarning(step, error) : null;
        if (warning === null)
          throw toStepFailure(step, error, counts.create + counts.update + counts.delete, open.length);
        warnings.push(warning);
      }
    }
    const { create: created, update: updated, delete: deleted } = counts;
    if (open.length > 0)
      await this.deps.audit.record(principal, 'config.applied', 'configuration', { created, updated, deleted });
    return warnings;
  }
}

function toStepFailure({ path }: PlanStep, error: unknown, done: number, total: number): ServiceError {
  const { status, code, fields = {} } = invalid(toEntryFaults(path, error));
  const message = `${done} of ${total} changes were applied. Fix this one and apply the document again.`;
  return new ServiceError(code, message, { status, fields });
}

/** Objects that are gone or in use do not stop an apply. Null: the error must be thrown. */
function toDeletionWarning({ path }: PlanStep, error: unknown): string | null {
  if (!(error instanceof ServiceError)) return null;
  if (error.status === 404) return `${path} was deleted meanwhile`;
  return error.status === 409 ? `${path} was not deleted: ${error.message}` : null;
}
