//! Addresses of this machine that no other machine can reach.

use std::net::IpAddr;

/// True for a loopback address, also one of IPv4 in the form of IPv6.
pub fn is_this_machine(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}
