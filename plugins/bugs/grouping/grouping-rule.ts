/**
 * One document holds all rules of a project, so that reordering is one write and readers see no
 * partial state.
 */
import type { Doc } from '../../../kernel/contract.js';

export const MAX_PROJECT_RULES = 50;
export const MAX_TOTAL_RULES = 2_000;
export const MAX_RULE_ELEMENTS = 10;

export interface RuleBehaviour {
  /** The class, or its last segment; `*` matches any characters. Case-insensitive. */
  exception_class: string | null;
  /** A regular expression (RE2), searched in the message; case-insensitive. */
  message: string | null;
  /** The normalized origin, `orders/db.py` or `orders/db.py#connect`; `*` as above. */
  origin: string | null;
  /** Templates; they replace the grouping, or the fingerprint of the report. */
  fingerprint: string[] | null;
  title: string | null;
}

export interface GroupingRule extends RuleBehaviour {
  id: string;
  name: string;
  enabled: boolean;
  /** Created by an apply. */
  managed?: true;
  created_by: string;
  /** RFC 3339. */
  created_at: string;
  updated_at: string;
}

export interface RuleListDoc extends Doc {
  id: string;
  rev: number;
  /** In order of precedence: the first match wins. */
  rules: GroupingRule[];
  updated_at: string;
}

export interface RuleRevisionDoc extends Doc {
  rev: number;
}

export const REVISION_ID = 'grouping_rules';
