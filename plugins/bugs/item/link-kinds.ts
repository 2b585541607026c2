/** Kinds of links between items, as each end names them, and the one form in which a link is stored. Pure. */
import { hashWithinProject } from './document-ids.js';

/** Links that one item has at the most. */
export const MAX_LINKS = 50;

/** As an end names it. `discovered` is `discovered_from`, seen from the other end. */
export const LINK_KINDS = ['related', 'blocks', 'blocked_by', 'discovered_from', 'discovered'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

const INVERSE: Readonly<Record<LinkKind, LinkKind>> = {
  related: 'related',
  blocks: 'blocked_by',
  blocked_by: 'blocks',
  discovered_from: 'discovered',
  discovered: 'discovered_from',
};

export const getInverseKind = (kind: LinkKind): LinkKind => INVERSE[kind];

/** A link as it is stored, from its one end. */
export interface LinkEnds {
  kind: 'related' | 'blocks' | 'discovered_from';
  from: string;
  to: string;
}

/** @param kind as the item names it */
export function toLinkEnds(kind: LinkKind, item: string, other: string): LinkEnds {
  if (kind === 'blocked_by') return { kind: 'blocks', from: other, to: item };
  if (kind === 'discovered') return { kind: 'discovered_from', from: other, to: item };
  if (kind === 'related') return { kind, from: item < other ? item : other, to: item < other ? other : item };
  return { kind, from: item, to: other };
}

/** The kind as the item at this end names it. */
export const getKindAtEnd = ({ kind, from }: LinkEnds, item: string): LinkKind =>
  from === item ? kind : getInverseKind(kind);

export const toLinkId = ({ kind, from, to }: LinkEnds): string => hashWithinProject(kind, `${from} ${to}`);
