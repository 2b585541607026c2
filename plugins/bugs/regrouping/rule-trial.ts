/**
 * Tries changed rules on some stored occurrences. Fingerprints and message templates are not
 * stored, so rules with `{{ default }}` or `{{ message }}` may produce other keys.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { DEPS } from '../deps.js';
import type { GroupingInput } from '../grouping/grouping-key.js';
import type { GroupingRule } from '../grouping/grouping-rule.js';
import { applyRuleOutcome } from '../grouping-rules/rule-outcome.js';
import { GroupingRuleSet } from '../grouping-rules/rule-set.js';
import { RuleSubject } from '../grouping-rules/rule-subject.js';
import { hashWithinProject, listSlotIds } from '../item/document-ids.js';
import type { ItemDoc, TextsDoc, KeyDoc } from '../item/model.js';
import { unpackOccurrence } from '../item/occurrence-payload.js';
import { computeTrialEffect, type GroupSummary, type TrialEffect, type TriedOccurrence } from './trial-effect.js';
import type { GroupingSettings } from '../grouping/grouping-settings.js';
import type { Logger } from '../../../ports/logger.js';
import type { Clock } from '../../../ports/clock.js';
import type { StoredOccurrence } from '../item/occurrence-documents.js';
import type { Collection } from '../../../ports/store/index.js';

const MAX_GROUPS = 200;
/** They are large. */
const MAX_OCCURRENCES_PER_GROUP = 20;
const BATCH_SIZE = 10;
const MAX_TRIAL_MS = 8_000;
const MAX_KEYS_PER_LOOKUP = 500;

export interface RuleTrial extends TrialEffect {
  groups: number;
  occurrences: number;
  complete: boolean;
  says: string[];
}

@injectable()
export class RuleTrialService {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(DEPS.keys) private readonly keys: Collection<KeyDoc>,
    @inject(DEPS.occurrences) private readonly occurrences: Collection<StoredOccurrence>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.grouping) private readonly grouping: GroupingSettings,
  ) {}

  async run(
    project: string,
    before: readonly GroupingRule[],
    after: readonly GroupingRule[],
    ruleId: string,
  ): Promise<RuleTrial> {
    const { items, clock, log } = this;
    const sets = [GroupingRuleSet.compile(before, log), GroupingRuleSet.compile(after, log)] as const;
    const ends = clock.monotonic() + MAX_TRIAL_MS;
    const page = await items.find({
      filter: { project, type: 'error' },
      sort: [['last_seen_at', 'desc']],
      limit: MAX_GROUPS,
    });
    const tried: TriedOccurrence[] = [];
    let groups = 0;
    for (const item of page.items) {
      if (clock.monotonic() > ends) break;
      for (const occurrence of await this.#tryOccurrences(item, sets)) tried.push(occurrence);
      groups += 1;
    }
    const effect = computeTrialEffect(tried, ruleId, await this.#findGroups(project, tried));
    const trial = {
      groups,
      occurrences: tried.length,
      complete: page.next === null && groups === page.items.length,
      ...effect,
    };
    return { ...trial, says: formatSentences(trial) };
  }

  async #tryOccurrences(item: ItemDoc, sets: readonly [GroupingRuleSet, GroupingRuleSet]): Promise<TriedOccurrence[]> {
    const { occurrences, texts, grouping, clock } = this;
    const ids = listSlotIds(item.id).slice(0, MAX_OCCURRENCES_PER_GROUP);
    const found: TriedOccurrence[] = [];
    for (let from = 0; from < ids.length; from += BATCH_SIZE) {
      const page = await occurrences.find({
        filter: { id: { in: ids.slice(from, from + BATCH_SIZE) } },
        limit: BATCH_SIZE,
      });
      for (const stored of page.items) {
        const doc = await unpackOccurrence(stored, (id) => texts.get(id));
        const { type, project, title } = item;
        const report: GroupingInput = { ...doc, type, project, title };
        const subject = new RuleSubject(report, grouping.masks);
        const now = (): number => clock.monotonic();
        const [was, ruling] = [await sets[0].evaluate(subject, now), await sets[1].evaluate(subject, now)];
        const keyOf = (of: typeof was): string => applyRuleOutcome(report, of, grouping.masks).dedup_key;
        const { id, ref } = item;
        const { origin } = subject;
        const named = { id, ref, title };
        found.push({ item: named, doc, origin, before: keyOf(was), after: keyOf(ruling), ruling });
      }
      if (page.items.length < BATCH_SIZE && item.parted !== true) break;
    }
    return found;
  }

  async #findGroups(
    project: string,
    tried: readonly TriedOccurrence[],
  ): Promise<Map<string, GroupSummary & { id: string }>> {
    const { keys, items } = this;
    const queriedKeys = [...new Set(tried.flatMap(({ before, after }) => (before === after ? [] : [after])))].slice(
      0,
      MAX_KEYS_PER_LOOKUP,
    );
    if (queriedKeys.length === 0) return new Map();
    const ids = queriedKeys.map((key) => hashWithinProject(project, key));
    const leads = (await keys.find({ filter: { id: { in: ids } }, limit: MAX_KEYS_PER_LOOKUP })).items;
    const itemIds = [...new Set(leads.map(({ counts_at, item_id }) => counts_at ?? item_id))];
    const groups = new Map(
      (await items.find({ filter: { id: { in: itemIds } }, limit: MAX_KEYS_PER_LOOKUP })).items.map((g) => [g.id, g]),
    );
    return new Map(
      leads.flatMap(({ key, counts_at, item_id }) => {
        const group = groups.get(counts_at ?? item_id);
        return group === undefined ? [] : [[key, { id: group.id, ref: group.ref, title: group.title }]];
      }),
    );
  }
}

const formatCount = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

function formatSentences(trial: Omit<RuleTrial, 'says'>): string[] {
  const { groups, occurrences, fits, destinations, more_destinations, joined, split, complete } = trial;
  const all = complete ? '' : ', of the most recently seen groups';
  const there = destinations.filter(({ group }) => group !== null).length;
  const made = destinations.length - there + more_destinations;
  const places = [
    ...(made > 0 ? [formatCount(made, 'new group')] : []),
    ...(there > 0 ? [formatCount(there, 'existing group')] : []),
  ];
  return [
    `The rule matches ${fits} of ${formatCount(occurrences, 'stored occurrence')} in ${formatCount(groups, 'group')}${all}.`,
    places.length === 0
      ? 'Later reports would be counted in the same groups as now.'
      : `Later reports like these would be counted in ${places.join(' and ')}.`,
    ...(joined > 0
      ? [`${joined} of these ${joined === 1 ? 'joins' : 'join'} groups that are currently separate.`]
      : []),
    ...(split > 0 ? [`${formatCount(split, 'existing group')} would be divided.`] : []),
  ];
}
