/** One document per project, so reordering is one write without partial states. */
import type { Doc } from '../../../kernel/contract/index.js';

export const MAX_PROJECT_RULES = 50;
export const MAX_TOTAL_RULES = 2_000;
export const MAX_RULE_ELEMENTS = 10;

export interface RuleBehaviour {
  /** Or its last segment; `*` matches any characters; case-insensitive. */
  exception_class: string | null;
  /** RE2, searched; case-insensitive. */
  message: string | null;
  /** `orders/db.py` or `orders/db.py#connect`; `*` as above. */
  origin: string | null;
  /** Templates that replace the grouping, or the report's fingerprint. */
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
  created_at: string;
  updated_at: string;
}

export interface RuleListDoc extends Doc {
  id: string;
  rev: number;
  /** The first match wins. */
  rules: GroupingRule[];
  updated_at: string;
}

export interface RuleRevisionDoc extends Doc {
  rev: number;
}

export const REVISION_ID = 'grouping_rules';
