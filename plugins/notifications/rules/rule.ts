/** A rule: what a channel is sent. Pure. */
import joi from 'joi';
import type { Doc } from '../../../kernel/contract.js';
import { SEVERITIES, TOPIC_NAMES, type Note, type NoteSeverity, type Topic } from '../notes/note.js';

export interface NotificationRule extends Doc {
  channel_id: string;
  /** Null: all projects, and what belongs to none. */
  project: string | null;
  topics: Topic[];
  least_severity: NoteSeverity;
  created_at: string;
}

export interface NotificationRuleFields {
  project: string | null;
  topics: Topic[];
  least_severity: NoteSeverity;
}

/** What the form of a rule sends. */
export const ruleFields = joi.object<NotificationRuleFields>({
  project: joi.string().max(64).empty('').default(null),
  topics: joi
    .array()
    .items(joi.valid(...TOPIC_NAMES))
    .single()
    .unique()
    .min(1)
    .required()
    .messages({ 'any.required': 'Choose at least one.', 'array.min': 'Choose at least one.' }),
  least_severity: joi.valid(...SEVERITIES).default('low'),
});

/** @param project of the event; null where it belongs to none */
export function ruleMatches(rule: NotificationRule, note: Note, project: string | null): boolean {
  if (note.topic === null || !rule.topics.includes(note.topic)) return false;
  if (rule.project !== null && rule.project !== project) return false;
  return SEVERITIES.indexOf(note.severity) <= SEVERITIES.indexOf(rule.least_severity);
}
