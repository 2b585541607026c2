/**
 * Applying a rule from the page: it goes on behind the answer, the page shows how far it is, and a process that dies leaves
 * its place in the store for another to go on from (the job, after 15 s without a sign of life). One run per rule.
 */
import { inject, injectable, type HttpRequest } from '../../../kernel/contract.js';
import { conflict, ServiceError } from '../../../kernel/errors.js';
import type { ApplyDoc } from './documents.js';
import { RULE_DEPS, type RuleDeps } from './deps.js';
import type { Rule } from './rule.js';
import { RulePreview } from './rule-preview.js';

/** A run that said nothing for this long belongs to a process that is gone. */
const SILENT_MS = 15_000;

@injectable()
export class Runs {
  readonly #running = new Set<Promise<void>>();
  #stopping = false;

  constructor(
    @inject(RULE_DEPS) private readonly deps: RuleDeps,
    @inject(RulePreview) private readonly rulePreview: RulePreview,
  ) {}

  /** The last run of a rule. */
  last(ruleId: string): Promise<ApplyDoc | null> {
    return this.deps.applies.get(ruleId);
  }

  /** Begins a run. @throws ServiceError not_found, conflict */
  async start(ruleId: string, principal: HttpRequest['principal']): Promise<void> {
    const { applies, ids, clock, muting, audit } = this.deps;
    const rule = await this.rulePreview.active(ruleId);
    const before = await this.last(ruleId);
    if (before?.state === 'running') throw conflict('The rule is being applied already.');
    const now = clock.iso();
    const run: ApplyDoc = {
      id: ruleId,
      state: 'running',
      scanned: 0,
      total: await muting.count(rule.project),
      matched: 0,
      muted: 0,
      skipped: 0,
      cursor: null,
      owner: ids.uuid(),
      started_by: principal.kind === 'session' ? principal.username : principal.kind,
      started_at: now,
      beat_at: now,
      finished_at: null,
      problem: null,
    };
    await audit()?.record(principal, 'ignore_rule.applied', ruleId, { name: rule.name, groups: run.total });
    if (before === null) await applies.insert(run);
    else {
      const { id, ...fields } = run;
      if ((await applies.change({ id, owner: before.owner, state: before.state }, { set: fields })) === null)
        throw conflict('The rule is being applied already.');
    }
    this.#work(rule, run);
  }

  /** Goes on with what a process that is gone left behind. */
  async resume(): Promise<void> {
    const { applies, clock, ids } = this.deps;
    const silent = new Date(clock.now() - SILENT_MS).toISOString();
    const left = await applies.find({ filter: { state: 'running', beat_at: { lt: silent } }, limit: 50 });
    for (const run of left.items) {
      const set = { owner: ids.uuid(), beat_at: clock.iso() };
      const taken = await applies.change({ id: run.id, owner: run.owner, beat_at: run.beat_at }, { set });
      if (taken === null) continue;
      try {
        this.#work(await this.rulePreview.active(run.id), taken.doc);
      } catch (error) {
        await this.#failed(taken.doc, error);
      }
    }
  }

  /** Stops at the next batch; another process, or the next start, goes on. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.settled();
  }

  /** What this process works on is done. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #work(rule: Rule, run: ApplyDoc): void {
    const task = this.#walk(rule, run).catch((error: unknown) => this.#failed(run, error));
    this.#running.add(task);
    void task.finally(() => this.#running.delete(task));
  }

  async #walk(rule: Rule, begun: ApplyDoc): Promise<void> {
    let run: ApplyDoc | null = begun;
    while (run !== null && run.state === 'running' && !this.#stopping) {
      const step = await this.rulePreview.step(rule, run.cursor);
      const done = step.next === null;
      const now = this.deps.clock.iso();
      // Counted and left in one write: a batch that a crash cut off is done again, and skips what it muted.
      const changed = await this.deps.applies.change(
        { id: run.id, owner: run.owner },
        {
          inc: { scanned: step.scanned, matched: step.matched, muted: step.muted, skipped: step.skipped },
          set: { cursor: step.next, beat_at: now, ...(done && { state: 'done', finished_at: now }) },
        },
      );
      run = changed?.doc ?? null;
    }
  }

  async #failed(run: ApplyDoc, error: unknown): Promise<void> {
    const known = error instanceof ServiceError;
    if (!known) this.deps.log.error({ err: error, rule: run.id }, 'a rule could not be applied to the end');
    const problem = known ? error.message : 'A fault of the service; apply the rule again.';
    try {
      const set = { state: 'failed', problem, finished_at: this.deps.clock.iso() };
      await this.deps.applies.change({ id: run.id, owner: run.owner }, { set });
    } catch (fault) {
      // It stays running without a sign of life: the job takes it up again.
      this.deps.log.error({ err: fault, rule: run.id }, 'the end of a rule’s run could not be written');
    }
  }
}
