/** Text from outside that every engine stores alike: NUL and halves of surrogate pairs become U+FFFD. Pure. */
const BROKEN = /\0|\p{Surrogate}/gu;

export const cleanText = (text: string): string => text.replace(BROKEN, '\ufffd');
