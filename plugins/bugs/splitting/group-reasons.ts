import { inject, injectable } from '../../../kernel/contract/index.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { GroupingRuleCache } from '../grouping-rules/rule-cache.js';
import type { ItemDoc, KeyDoc } from '../item/model.js';
import { ItemService } from '../store/item-service.js';
import { GroupedPartsReader, type GroupedOccurrence } from './grouped-occurrences.js';
import { describeDifference } from './split-preview.js';
import type { Collection } from '../../../ports/store/index.js';

const MAX_KEYS = 20;
const MAX_MERGED_ITEMS = 50;
const MAX_TEXT_LENGTH = 300;

export interface GroupingKeyReason {
  key: string;
  origin: string | null;
  masked: string | null;
  came: 'first' | 'joined' | 'flood' | 'rewritten' | 'merged' | 'split';
  kept: number;
  fingerprint: boolean;
  /** `name` is null when the rule was deleted. */
  rule: { id: string; name: string | null } | null;
}

export interface GroupReasons {
  exception_class: string | null;
  keys: GroupingKeyReason[];
  more_keys: number;
  merged: string[];
  split_from: string | null;
  split_off: string[];
  says: string[];
  untrusted_fields: string[];
}

@injectable()
export class GroupReasonService {
  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(ItemService) private readonly items: ItemService,
    @inject(GroupedPartsReader) private readonly partsReader: GroupedPartsReader,
    @inject(GroupingRuleCache) private readonly rules: GroupingRuleCache,
  ) {}

  /** @throws ServiceError not_found, insufficient_scope */
  async getReasonsByName(name: string, caller: BugCaller): Promise<GroupReasons> {
    return this.getReasons(await this.items.get(name, caller));
  }

  async getReasons(item: ItemDoc): Promise<GroupReasons> {
    const items = this.itemRows;
    const [{ keys, occurrences }, merged, from] = await Promise.all([
      this.partsReader.read(item),
      items.find({ filter: { duplicate_of: item.id }, limit: MAX_MERGED_ITEMS }),
      item.split_from === undefined ? null : items.get(item.split_from),
    ]);
    const names = new Map(this.rules.listCached(item.project).map(({ id, name }) => [id, name]));
    const keyReasons = keys.slice(0, MAX_KEYS).map((key) => toKeyReason(item, key, occurrences, names));
    const refs = merged.items.map(({ ref }) => ref);
    const parts = new Set(keys.flatMap(({ divided = [] }) => divided.map(({ by }) => describeDifference(by))));
    const reasons = {
      exception_class: item.exception_class,
      keys: keyReasons,
      more_keys: keys.length - keyReasons.length,
      merged: refs,
      split_from: from?.ref ?? null,
      split_off: [...parts],
    };
    return {
      ...reasons,
      says: formatSentences(item, reasons),
      untrusted_fields: ['exception_class', 'keys', 'split_off', 'says'],
    };
  }
}

function toKeyReason(
  item: ItemDoc,
  { key, item_id, came, rule_id, made_of }: KeyDoc,
  occurrences: readonly GroupedOccurrence[],
  names: ReadonlyMap<string, string>,
): GroupingKeyReason {
  const own = occurrences.filter((one) => one.key === key);
  const [first] = own;
  // Differs with a fingerprint or after a split.
  const grouping = made_of ?? (first?.bare === null ? null : (first?.grouping ?? null));
  const isSplit = item.split_from !== undefined && first !== undefined && grouping === null;
  return {
    key,
    origin: grouping?.origin.slice(0, MAX_TEXT_LENGTH) || null,
    masked: (grouping ?? first?.grouping)?.masked.slice(0, MAX_TEXT_LENGTH) ?? null,
    came: item_id !== item.id ? 'merged' : isSplit ? 'split' : (came ?? 'first'),
    kept: own.length,
    fingerprint: rule_id !== undefined || (first !== undefined && grouping === null && !isSplit),
    rule: rule_id === undefined ? null : { id: rule_id, name: names.get(rule_id) ?? null },
  };
}

const ASSIGNMENT_SENTENCES: Record<GroupingKeyReason['came'], string> = {
  first: '',
  joined: ' Joined by class and message.',
  rewritten: ' Its frames were resolved by a source map later.',
  flood: ' Joined by the flood rule.',
  merged: ' Came with a merged issue.',
  split: ' Split off from another issue.',
};

type ReasonsData = Omit<GroupReasons, 'says' | 'untrusted_fields'>;

function formatSentences(
  item: ItemDoc,
  { exception_class, keys, more_keys, merged, split_from, split_off }: ReasonsData,
): string[] {
  const masked = item.type === 'feature' ? 'title' : 'message';
  const lines = keys.map(({ origin, masked: text, came, fingerprint, rule }) => {
    if (rule?.name === null) return `Grouped by a deleted grouping rule.${ASSIGNMENT_SENTENCES[came]}`;
    if (rule !== null) return `Grouped by the rule “${rule.name}”.${ASSIGNMENT_SENTENCES[came]}`;
    if (fingerprint)
      return `Grouped by the fingerprint or template that the application sent.${ASSIGNMENT_SENTENCES[came]}`;
    const place = origin === null ? 'without a location' : `from ${origin}`;
    if (text === null) return `A grouping key without samples.${ASSIGNMENT_SENTENCES[came]}`;
    return `Same ${masked} “${text}” ${place}, ignoring IDs, numbers and timestamps.${ASSIGNMENT_SENTENCES[came]}`;
  });
  return [
    ...(exception_class === null ? [] : [`Same class ${exception_class}.`]),
    ...lines,
    ...(more_keys > 0 ? [`${more_keys} more grouping keys.`] : []),
    ...(merged.length > 0 ? [`Merged issues: ${merged.join(', ')}.`] : []),
    ...(split_from === null ? [] : [`Split off from ${split_from}.`]),
    ...split_off.map((words) => `Events with ${words} were split off.`),
  ];
}
