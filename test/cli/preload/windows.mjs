// The process believes that it runs on native Windows.
Object.defineProperty(process, "platform", { value: "win32" });
