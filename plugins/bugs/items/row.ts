/** An item as a list of the API shows it: made where it is read (ports/store.ts, Rendering). */
import type { Render } from '../../../ports/store.js';
import type { ItemDoc, TextsDoc } from './model.js';
import { itemView } from './view.js';

/**
 * @param context the beginning of the running minute, in milliseconds since 1970: the rolling hour moves by minutes, and a
 * lease that has run out is written before a list reads
 */
export const render: Render<ItemDoc, TextsDoc, number> = (item, texts, minute) => itemView(item, texts, minute);

export const ITEM_ROW = new URL(import.meta.url);
