/** As each end of a link names them, and the stored form. */
import { hashWithinProject } from './document-ids.js';

export const MAX_LINKS = 50;

/** `discovered` is `discovered_from`, seen from the other end. */
export const LINK_KINDS = ['related', 'blocks', 'blocked_by', 'discovered_from', 'discovered'] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

const INVERSE_KINDS: Readonly<Record<LinkKind, LinkKind>> = {
  related: 'related',
  blocks: 'blocked_by',
  blocked_by: 'blocks',
  discovered_from: 'discovered',
  discovered: 'discovered_from',
};

export const getInverseKind = (kind: LinkKind): LinkKind => INVERSE_KINDS[kind];

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

export const getKindAtEnd = ({ kind, from }: LinkEnds, item: string): LinkKind =>
  from === item ? kind : getInverseKind(kind);

export const toLinkId = ({ kind, from, to }: LinkEnds): string => hashWithinProject(kind, `${from} ${to}`);
