/**
 * The grouping rules of a project as they are stored: one document holds them all in their order, so that a change of
 * the order is one write, and a reader never sees half of it.
 */
import type { Doc } from '../../../kernel/contract.js';

/** Rules of one project. Each report may be held against all of them. */
export const MAX_PROJECT_RULES = 50;
/** Rules of all projects. Every process has them in memory. */
export const MAX_TOTAL_RULES = 2_000;
export const MAX_RULE_ELEMENTS = 10;

/** What a report is asked for, and what a rule makes of one that fits. What is null is not asked, or not changed. */
export interface RuleBehaviour {
  /** The class, or its last segment; `*` stands for any characters. Upper and lower case are alike. */
  exception_class: string | null;
  /** A regular expression (RE2), searched in the message; upper and lower case are alike. */
  message: string | null;
  /** The origin as grouping normalises it, `orders/db.py` or `orders/db.py#connect`; `*` as above. */
  origin: string | null;
  /** Templates; they replace the grouping, or the fingerprint that the report names. */
  fingerprint: string[] | null;
  /** A template for the title of a new group. */
  title: string | null;
}

export interface GroupingRule extends RuleBehaviour {
  id: string;
  name: string;
  enabled: boolean;
  created_by: string;
  /** RFC 3339. */
  created_at: string;
  updated_at: string;
}

export interface RuleListDoc extends Doc {
  /** The project's slug. */
  id: string;
  /** Rises with every change: who writes names the one that was read. */
  rev: number;
  /** In order of precedence: the first that fits decides. */
  rules: GroupingRule[];
  updated_at: string;
}

/** Rises with every change of any project's rules, so that other processes notice. */
export interface RuleRevisionDoc extends Doc {
  rev: number;
}

/** The one document of revisions. */
export const REVISION_ID = 'grouping_rules';
