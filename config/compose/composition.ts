/** What the command line receives (adapters/cli/composition.ts). */
export const composition = {
  loadComposer: () => import('./compose.js'),
  loadDataTransfer: () => import('./data-transfer.js'),
};
