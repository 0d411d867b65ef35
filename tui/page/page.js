// What is typed goes to the terminal from the start, and the page can be opened again.

const terminal = document.getElementById("terminal");

new MutationObserver((_, observer) => {
  const typed = terminal.querySelector("textarea");
  if (typed) {
    observer.disconnect();
    typed.focus();
  }
}).observe(terminal, { childList: true, subtree: true });

document.getElementById("again").addEventListener("click", () => window.location.reload());
