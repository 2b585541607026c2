/**
 * In the background. The store holds the position, so that after a crash another process continues
 * (by the job, after 15 s without a heartbeat). One run per rule.
 */
import {
  inject,
  injectable,
  type HttpRequest,
  type Collection,
  type Clock,
  type Ids,
  type Logger,
} from '../../../kernel/contract/index.js';
import { conflict, ServiceError } from '../../../kernel/errors.js';
import type { ApplyRunDoc } from './documents.js';
import { RULE_DEPS } from './deps.js';
import type { IgnoreRule } from './rule.js';
import { buildElapsedFilter } from '../../../lib/clock-skew.js';
import { RuleApplier } from './rule-applier.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { GroupMuter } from '../../../ports/domain/bugs.js';

const HEARTBEAT_TIMEOUT_MS = 15_000;

@injectable()
export class ApplyRunService {
  readonly #running = new Set<Promise<void>>();
  #stopping = false;

  constructor(
    @inject(RULE_DEPS.applies) private readonly applies: Collection<ApplyRunDoc>,
    @inject(RULE_DEPS.muting) private readonly muting: GroupMuter,
    @inject(RULE_DEPS.audit) private readonly audit: () => AuditLog | undefined,
    @inject(RULE_DEPS.clock) private readonly clock: Clock,
    @inject(RULE_DEPS.ids) private readonly ids: Ids,
    @inject(RULE_DEPS.log) private readonly log: Logger,
    @inject(RuleApplier) private readonly rulePreview: RuleApplier,
  ) {}

  findLast(ruleId: string): Promise<ApplyRunDoc | null> {
    return this.applies.get(ruleId);
  }

  async start(ruleId: string, principal: HttpRequest['principal']): Promise<void> {
    const { applies, ids, clock, muting, audit } = this;
    const rule = await this.rulePreview.getActiveRule(ruleId);
    const before = await this.findLast(ruleId);
    if (before?.state === 'running') throw conflict('The rule is already being applied.');
    const now = clock.iso();
    const run: ApplyRunDoc = {
      id: ruleId,
      state: 'running',
      scanned: 0,
      total: await muting.countGroups(rule.project),
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
        throw conflict('The rule is already being applied.');
    }
    this.#startWork(rule, run);
  }

  async resume(): Promise<void> {
    const { applies, clock, ids } = this;
    const filter = { state: 'running', ...buildElapsedFilter('beat_at', HEARTBEAT_TIMEOUT_MS, clock.now()) };
    const left = await applies.find({ filter, limit: 50 });
    for (const run of left.items) {
      const set = { owner: ids.uuid(), beat_at: clock.iso() };
      const acquired = await applies.change({ id: run.id, owner: run.owner, beat_at: run.beat_at }, { set });
      if (acquired === null) continue;
      try {
        this.#startWork(await this.rulePreview.getActiveRule(run.id), acquired.doc);
      } catch (error) {
        await this.#markFailed(acquired.doc, error);
      }
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.waitForIdle();
  }

  async waitForIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #startWork(rule: IgnoreRule, run: ApplyRunDoc): void {
    const task = this.#runBatches(rule, run).catch((error: unknown) => this.#markFailed(run, error));
    this.#running.add(task);
    void task.finally(() => this.#running.delete(task));
  }

  async #runBatches(rule: IgnoreRule, begun: ApplyRunDoc): Promise<void> {
    let run: ApplyRunDoc | null = begun;
    while (run !== null && run.state === 'running' && !this.#stopping) {
      const step = await this.rulePreview.applyBatch(rule, run.cursor);
      const done = step.next === null;
      const now = this.clock.iso();
      // One write with the cursor: a repeated batch skips muted groups.
      const changed = await this.applies.change(
        { id: run.id, owner: run.owner },
        {
          inc: { scanned: step.scanned, matched: step.matched, muted: step.muted, skipped: step.skipped },
          set: { cursor: step.next, beat_at: now, ...(done && { state: 'done', finished_at: now }) },
        },
      );
      run = changed?.doc ?? null;
    }
  }

  async #markFailed(run: ApplyRunDoc, error: unknown): Promise<void> {
    const known = error instanceof ServiceError;
    if (!known) this.log.error({ err: error, rule: run.id }, 'a rule could not be applied completely');
    const problem = known ? error.message : 'Internal error; apply the rule again.';
    try {
      const set = { state: 'failed', problem, finished_at: this.clock.iso() };
      await this.applies.change({ id: run.id, owner: run.owner }, { set });
    } catch (fault) {
      // The job takes over a run without a heartbeat.
      this.log.error({ err: fault, rule: run.id }, 'the result of applying a rule could not be stored');
    }
  }
}
