// Command guest is the init of the rig's guests: it mounts, loads the modules
// that lie in the initramfs, works off the script (see package script) and
// sends everything that came of it to the host as one tar through a virtio
// port. It never prints while programs run (the console polls with interrupts
// off), except for marks that the script asks for.
package main
