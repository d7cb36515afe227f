/**
 * Every key of the console and what it does, as people read it. A test presses each of them. `Mod` is Ctrl, or ⌘ on
 * machines of Apple.
 */
export const shortcuts = [
  ['Mod K', 'Search or paste an ID'],
  ['?', 'Keyboard shortcuts'],
  ['/', 'Filter'],
  ['g h', 'Home'],
  ['g i', 'Approvals'],
  ['g r', 'Runs'],
  ['g s', 'Sessions'],
  ['g a', 'Agents'],
  ['g o', 'Organization'],
  ['j k', 'Next and previous row'],
  ['Enter', 'Open row'],
  ['x', 'Select an approval or a run'],
  ['.', 'Deny or cancel the selection; in a run, next error'],
  ['Esc', 'Leave a field, clear the selection, go back to the list'],
  ['a d', 'Allow, deny (card in focus)'],
  ['m', 'Choose how long to allow it, where a rule permits more than once'],
  ['e r', 'Edit input, write a message'],
  ['1 … 9', 'Choose an answer of a question; Enter sends it'],
  ['[ ]', 'Previous and next tab of a run'],
  ['f', 'Follow the latest output'],
  ['n', 'Go to the next open request in a conversation'],
  ['c', 'Copy menu of a run'],
  ['Mod Enter', 'Send message'],
  ['Esc Esc', 'Stop the agent that is answering: the first asks, the second stops'],
] as const;
